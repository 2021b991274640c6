"""What a suite file may say, and what becomes of it."""

from pathlib import Path
from textwrap import dedent

import pytest

from karta_interpreter.base.errors import SuiteError
from karta_interpreter.engine.operations import Operation, StatusItem
from karta_interpreter.engine.suites.suite import Case, find_suites, load_suite, read_suite, scan_suite, with_outputs
from tests.support.rows import rows

_JOB = "{apiVersion: batch/v1, kind: Job}"


def _only(text: str) -> Case:
    (case,) = read_suite(dedent(text), "a.yaml")
    return case


def test_cases_are_documents_with_places() -> None:
    first, second = read_suite(
        dedent(f"""\
            # a comment, then an empty document
            ---
            name: first
            desiredObj: {_JOB}
            operation: InterpretReplica
            output: {{replica: 1}}
            ---
            name: second
            description: because
            observedObj: {_JOB}
            operation: InterpretHealth
            output: {{healthy: true}}
            """),
        "a.yaml",
    )
    assert (first.name, first.description, first.source, first.line) == ("first", "", "a.yaml", 3)
    assert (second.name, second.description, second.line) == ("second", "because", 8)
    assert second.expected == {"healthy": True}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("interprethealth", id="Karmada compares without case"),
        pytest.param("InterpretHealth", id="the name as it is documented"),
    ],
)
def test_names_of_operations(name: str) -> None:
    assert _only(f"{{name: a, desiredObj: {_JOB}, operation: {name}}}").call.operation is Operation.INTERPRET_HEALTH


def test_case_object_is_desired_or_observed() -> None:
    desired = _only("{name: a, operation: InterpretStatus, desiredObj: {kind: Desired}}")
    observed = _only("{name: a, operation: InterpretStatus, observedObj: {kind: Observed}}")
    assert desired.call.object == {"kind": "Desired"}
    assert observed.call.object == {"kind": "Observed"}
    assert observed.call.observed is None


def test_retain_has_both_objects() -> None:
    case = _only("{name: a, operation: Retain, desiredObj: {kind: D}, observedObj: {kind: O}}")
    assert (case.call.object, case.call.observed) == ({"kind": "D"}, {"kind": "O"})


def test_replicas_are_those_of_the_case() -> None:
    assert _only(f"{{name: a, operation: ReviseReplica, desiredObj: {_JOB}, inputReplicas: 4}}").call.replicas == 4


def test_null_is_no_value() -> None:
    case = _only(f"{{name: a, description: , operation: ReviseReplica, desiredObj: {_JOB}, inputReplicas: 0}}")
    assert (case.description, case.call.replicas) == ("", 0)


def test_status_items_as_karmada_writes_them() -> None:
    case = _only(f"""
        name: a
        operation: AggregateStatus
        desiredObj: {_JOB}
        statusItems:
          - {{clusterName: north, applied: true, status: {{active: 1}}, health: Healthy}}
          - {{clusterName: south, appliedMessage: refused, health: Unknown}}
        """)
    assert case.call.items == (
        StatusItem("north", {"active": 1}, applied=True, health="Healthy"),
        StatusItem("south", None, applied=False, message="refused", health="Unknown"),
    )


def test_head_of_status_item_is_ignored() -> None:
    head = "apiVersion: batch/v1, kind: Job, metadata: {clusterName: north}"
    items = f"[{{{head}, status: {{active: 1}}}}]"
    case = _only(f"{{name: a, operation: AggregateStatus, desiredObj: {_JOB}, statusItems: {items}}}")
    assert case.call.items == (StatusItem("", {"active": 1}, applied=False),)


def test_objects_to_look_up() -> None:
    case = _only(f"{{name: a, operation: InterpretReplica, desiredObj: {_JOB}, references: [{_JOB}]}}")
    (reference,) = case.references
    assert reference == case.call.object


def test_case_with_error_expects_failure() -> None:
    case = _only(f"{{name: a, operation: InterpretReplica, desiredObj: {_JOB}, output: {{error: no template}}}}")
    assert (case.error, case.expected) == ("no template", {})


@rows(
    ("text", "message"),
    [
        pytest.param("- a", "a case must be an object, but is a list", id="not an object"),
        pytest.param("{name: a, desiredObj: null, apiVersion: v1, kind: Pod, operation: InterpretReplica}",
                     'case "a": desiredObj is empty: indent the lines of its object below it',
                     id="an object not indented"),
        pytest.param("{name: a, ouput: {}}", 'case "a": case has the unknown key "ouput" (did you mean output?)',
                     id="a misspelt key would make a case that checks nothing"),
        pytest.param("{operation: Retain}", "there is no name: a case has name, operation, desiredObj or observedObj",
                     id="no name"),
        pytest.param("{name: a}", 'case "a": there is no operation: a case has name', id="no operation"),
        pytest.param("{apiVersion: run.ai/v1alpha1, kind: Karta, spec: {}}", "this is a Karta, not a case of a suite: "
                     "name the folder that has a definition and, beside it, a folder testdata", id="a definition"),
        pytest.param("{name: a, operation: Prune}", 'there is no operation "Prune"; there are: InterpretReplica',
                     id="Prune is never called"),
        pytest.param("{name: a, operation: Retain, desiredObj: {}}", "Retain needs both", id="Retain without observed"),
        pytest.param("{name: a, operation: InterpretHealth}", "needs desiredObj or observedObj", id="no object"),
        pytest.param("{name: a, operation: InterpretHealth, desiredObj: {}, observedObj: {}}", "not both",
                     id="which of the two would be asked about?"),
        pytest.param("{name: a, operation: InterpretHealth, desiredObj: text}", "desiredObj must be an object",
                     id="text for an object"),
        pytest.param("{name: a, operation: ReviseReplica, desiredObj: {}}",
                     "ReviseReplica needs inputReplicas", id="no number, which Karmada's harness takes for 0"),
        pytest.param("{name: a, operation: ReviseReplica, desiredObj: {}, inputReplicas: two}",
                     "inputReplicas must be a number, but is a string", id="text for a number"),
        pytest.param("{name: a, operation: ReviseReplica, desiredObj: {}, inputReplicas: true}",
                     "inputReplicas must be a number, but is a boolean", id="true is not a number"),
        pytest.param("{name: a, operation: AggregateStatus, desiredObj: {}, statusItems: {}}",
                     "statusItems must be a list", id="an object for a list") ,
        pytest.param("{name: a, operation: AggregateStatus, desiredObj: {}, statusItems: [north]}",
                     "statusItems[0] is not what a cluster reports: {clusterName", id="an item that is text"),
        pytest.param("{name: a, operation: AggregateStatus, desiredObj: {}, "
                     "statusItems: [{clusterName: b, status: {}}, {clusterName: b, status: {}}]}",
                     "statusItems[1] is a second one of b", id="a cluster twice"),
        pytest.param("{name: a, operation: InterpretReplica, desiredObj: {output: {replica: 1}}}",
                     "desiredObj has output, which a case has: indent it less", id="an output within the object"),
        pytest.param("{name: a, operation: AggregateStatus, desiredObj: {}, statusItems: [{applied: yes please}]}",
                     "statusItems[0].applied must be a boolean", id="an item's flag that is text"),
        pytest.param("{name: a, operation: InterpretHealth, desiredObj: {}, references: [{kind: Job}]}",
                     "references[0]: an object needs a string in apiVersion", id="a reference without apiVersion"),
        pytest.param("{name: a, operation: InterpretHealth, desiredObj: {}, output: {health: true}}",
                     "did you mean healthy?", id="a result that this operation never has"),
        pytest.param("{name: a, operation: InterpretHealth, desiredObj: {}, output: {healthy: 'yes'}}",
                     "healthy must be a boolean, but is a string; write true or false, without quotes",
                     id="a result of another type"),
        pytest.param("{name: a, operation: AggregateStatus, desiredObj: {}, output: {aggregatedStatus: {active: 1}}}",
                     "output.aggregatedStatus is a whole object: write it with apiVersion, kind", id="a bare status"),
        pytest.param("{name: a, operation: InterpretHealth, desiredObj: {}, output: {error: x, healthy: true}}",
                     "the only output", id="an error and a result exclude each other"),
    ],
)  # fmt: skip
def test_unreadable_suite_names_place_and_reason(text: str, message: str) -> None:
    with pytest.raises(SuiteError) as caught:
        read_suite(f"# a comment\n{text}\n", "a.yaml")
    assert str(caught.value).startswith("a.yaml:2: ")
    assert message in str(caught.value)


@rows(
    ("text", "line"),
    [
        pytest.param(f"name: a\noperation: Retain\ndesiredObj: {_JOB}\ndescripton: one\n", 4, id="a key of a case"),
        pytest.param(
            f"name: a\noperation: InterpretReplica\ndesiredObj: {_JOB}\noutput:\n  replica: 1\n  replicas: 1\n",
            6,
            id="a key of the output",
        ),
        pytest.param(f"name: a\noperation: InterpretReplica\ndesiredObj: {_JOB}\noutput:\n  requires:\n    cpu: 1\n",
            6, id="a key of a result"),
        pytest.param(f"name: a\noperation: Retain\ndesiredObj: {_JOB}\nouput:\n  # a\n  b: 1\n", 1,
            id="a key above others"),
    ],
)  # fmt: skip
def test_unknown_key_is_reported_at_its_line(text: str, line: int) -> None:
    with pytest.raises(SuiteError, match=rf"^a\.yaml:{line}: .* has the unknown key "):
        read_suite(text, "a.yaml")


def test_broken_yaml_says_its_line() -> None:
    with pytest.raises(SuiteError, match=r"^a\.yaml:2: "):
        read_suite("name: a\noperation: {Retain]\n", "a.yaml")


def test_missing_suite_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"cannot read the suite: No such file or directory$"):
        load_suite(tmp_path / "none.yaml")


def test_undecodable_suite_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_bytes(b"name: \xff")
    with pytest.raises(SuiteError, match=r"cannot read the suite: not UTF-8 text, see byte 6; save it as UTF-8$"):
        load_suite(tmp_path / "suite.yaml")


def test_suites_are_the_yaml_files_in_testdata(tmp_path: Path) -> None:
    for name in ("Job/karta.yaml", "Job/testdata/b.yaml", "Job/testdata/a.yml", "Job/testdata/notes.md", "c.yaml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = ["a.yml", "b.yaml"]
    assert [path.name for path in find_suites(tmp_path)] == found
    assert [path.name for path in find_suites(tmp_path / "Job" / "testdata")] == found


def test_unreadable_cases_have_their_own_errors(tmp_path: Path) -> None:
    text = f"nam: a\n---\n{{name: b, operation: InterpretReplica, desiredObj: {_JOB}}}\n---\nname: c\n"
    (tmp_path / "suite.yaml").write_text(text)

    first, case, last = scan_suite(tmp_path / "suite.yaml")

    assert isinstance(case, Case)
    assert [str(each).partition("suite.yaml")[2][:10] for each in (first, last)] == [":1: case h", ':5: case "']


@rows(
    ("text", "expected"),
    [
        pytest.param("name: a\noutput:\n  replica: 1\n", "name: a\noutput:\n  replica: 2\n", id="the last key"),
        pytest.param("output: {replica: 1}\n# why\nname: a\n", "output:\n  replica: 2\n# why\nname: a\n",
            id="the first key"),
        pytest.param("# of all\nname: a # one\noutput:\n  # old\n\n  replica: 1\n\n---\nname: b\noutput: {}\n",
            "# of all\nname: a # one\noutput:\n  replica: 2\n---\nname: b\noutput: {}\n",
            id="the lines around it stay"),
        pytest.param("output:\n  replica: 1\n# within\n\n  requires: {}\n\n# below\n\nname: a\n",
            "output:\n  replica: 2\n# below\n\nname: a\n", id="a comment within is a part of it"),
        pytest.param("name: a\noperation: Retain\n\n# below\n---\nname: b\n",
            "name: a\noperation: Retain\noutput:\n  replica: 2\n\n# below\n---\nname: b\n", id="a case without one"),
        pytest.param("name: a\noperation: Retain", "name: a\noperation: Retain\noutput:\n  replica: 2\n",
            id="at the end"),
    ],
)  # fmt: skip
def test_only_the_output_of_a_case_is_written(text: str, expected: str) -> None:
    line = 2 if text.startswith("#") else 1
    assert with_outputs(text, "a.yaml", {line: {"replica": 2}}) == expected


def test_output_within_braces_is_not_replaced() -> None:
    with pytest.raises(SuiteError, match=r"^a\.yaml:1: the output of this case is not a key at the beginning"):
        with_outputs("{name: a, output: {replica: 1}}", "a.yaml", {1: {"replica": 2}})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("name: a\noutput: {\n  replica: 1\n}\n", id="braces over several lines"),
        pytest.param('name: a\noutput: {error: "one\ntwo"}\n', id="a text over several lines"),
    ],
)
def test_output_that_ends_in_own_line_is_not_replaced(text: str) -> None:
    with pytest.raises(SuiteError, match=r"^a\.yaml: the outputs of this suite cannot be replaced line by line"):
        with_outputs(text, "a.yaml", {1: {"replica": 2}})
