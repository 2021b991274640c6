from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from tests.definitions.openapi.draft.test_draft import INTEGER, POD_SPEC, STRING, TEMPLATE, fields
from tests.support.rows import rows

Run = Callable[..., Result]

_DOCUMENTS = Path(__file__).parent / "documents"
BAKERY = (_DOCUMENTS / "bakery-crd.yaml").read_text(encoding="utf-8")
MILL = BAKERY.replace("Bakery", "Mill")
DRAFT = (_DOCUMENTS / "bakery-draft.yaml").read_text(encoding="utf-8")


@pytest.fixture
def crds(files: Path) -> Path:
    path = files / "crds.yaml"
    path.write_text(BAKERY + "---\n" + MILL)
    return path


def test_draft_is_yaml_with_comments(run: Run) -> None:
    result = run("create", "karta", "--crd", "-", stdin=BAKERY)

    assert result.exit_code == 0, result.output
    assert result.stdout == DRAFT
    assert result.stderr == "example.io/v1, Kind=Bakery: 5 places to CHECK\n"


def test_warning_that_a_check_repeats_is_not_printed(run: Run, files: Path) -> None:
    """`validate` warns of a draft. Its CHECKs name the same points, so `create` prints each of them once."""
    crd = yaml.safe_load(BAKERY)
    part = fields(replicas=INTEGER, template=TEMPLATE)
    spec = fields(head=part, ovens=part, override=fields(template=TEMPLATE), sideCars=POD_SPEC)
    status = fields(phase=STRING)
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = fields(spec=spec, status=status)
    (files / "crd.yaml").write_text(yaml.safe_dump(crd))

    result = run("create", "karta", "--crd", "crd.yaml")

    assert result.stderr == "example.io/v1, Kind=Bakery: 6 places to CHECK\n"
    (files / "draft.yaml").write_text(result.stdout)
    validated = run("validate", "--crd", "crd.yaml", "draft.yaml").stdout
    rules = ("type-selector-missing", "never-healthy", "crd-unread")
    assert [rule in validated for rule in rules] == [True, True, True], validated


def test_draft_can_be_validated(run: Run, files: Path) -> None:
    (files / "draft.yaml").write_text(run("create", "karta", "--crd", "-", stdin=BAKERY).stdout)

    assert run("validate", "--strict", "draft.yaml").exit_code == 0


@pytest.mark.usefixtures("crds")
def test_create_karta_selects_kind_and_version(run: Run) -> None:
    result = run("create", "karta", "--crd", "crds.yaml", "--kind", "mill", "--version", "v1")

    assert yaml.safe_load(result.stdout)["metadata"]["name"] == "example-io-mill-v1"


@rows(
    ("kind", "code", "text"),
    [
        pytest.param("Mill", 2, "choose one with --kind: example.io/Mill, example.org/Mill", id="which group"),
        pytest.param("mill.example.org", 0, "name: example-org-mill-v1", id="one of the groups"),
        pytest.param("Mill.example.com", 2, "--crd: it has nothing for the kind Mill.example.com", id="no such group"),
    ],
)
def test_groups_that_share_a_kind(run: Run, kind: str, code: int, text: str) -> None:
    crds = f"{MILL}---\n{MILL.replace('example.io', 'example.org')}"

    result = run("create", "karta", "--crd", "-", "--kind", kind, stdin=crds)

    assert result.exit_code == code
    assert text in result.output


def test_components_are_chosen_by_name(run: Run, files: Path) -> None:
    crd: Any = yaml.safe_load(BAKERY)
    properties = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    ovens = properties.pop("ovens")
    properties |= {f"oven{number}": ovens for number in range(11)}
    (files / "crd.yaml").write_text(yaml.safe_dump(crd))

    refused = run("create", "karta", "--crd", "crd.yaml")
    assert refused.exit_code == 2
    assert "there are 11 components, choose some with --component: oven0 (.spec.oven0[].podTemplate)" in refused.stderr
    two = run("create", "karta", "--crd", "crd.yaml", "--component", "oven3", "--component", "oven5")
    structure = yaml.safe_load(two.stdout)["spec"]["structureDefinition"]
    assert [child["name"] for child in structure["childComponents"]] == ["oven3", "oven5"]
    unknown = run("create", "karta", "--crd", "crd.yaml", "--component", "ovn3")
    assert unknown.exit_code == 2
    assert "there is no component ovn3; did you mean oven3?" in unknown.stderr


def _give_reasons(files: Path) -> None:
    for suite in (files / "testdata").glob("*.yaml"):
        suite.write_text(suite.read_text().replace("TODO: say why this is right, by", "Right by"))


def test_suite_has_present_answers_and_asks_for_reasons(run: Run, files: Path) -> None:
    result = run("create", "suite", "-f", "karta.yaml", "--object", "job.yaml", "--output-dir", "testdata")

    replica = yaml.safe_load((files / "testdata" / "interpretreplica.yaml").read_text())
    revise = yaml.safe_load((files / "testdata" / "revisereplica.yaml").read_text())
    assert (result.exit_code, result.stderr) == (
        0,
        (
            "7 cases with today's answers in testdata (interpretreplica.yaml, interpretcomponent.yaml, "
            "revisereplica.yaml, aggregatestatus.yaml and 3 more): correct what is wrong, "
            "and replace each TODO by the reason; "
            "`karta-interpreter test . -f karta.yaml` runs them\n"
        ),
    )
    assert (replica["output"]["replica"], replica["description"][:5]) == (3, "TODO:")
    assert (revise["inputReplicas"], revise["output"]["revised"]["spec"]["replicas"]) == (6, 6)
    drafts = run("test")
    assert drafts.exit_code == 1
    assert drafts.stderr.endswith("1 kind, 7 cases: 7 passed, 7 of them with a TODO for the reason, 0 failed\n")
    _give_reasons(files)
    assert run("test").exit_code == 0


def test_cases_of_suite_share_the_object(run: Run, files: Path) -> None:
    run("create", "suite", "-f", "karta.yaml", "--object", "job.yaml", "--output-dir", "testdata")

    cases = [yaml.safe_load(path.read_text()) for path in (files / "testdata").glob("*.yaml")]
    assert {case.get("desiredObj") or case["observedObj"] for case in cases} == {"objects/1.yaml"}
    shared = files / "testdata" / "objects" / "1.yaml"
    assert yaml.safe_load(shared.read_text()) == yaml.safe_load((files / "job.yaml").read_text())


def test_printed_cases_are_whole(run: Run, files: Path) -> None:
    result = run("create", "suite", "-f", "karta.yaml", "--object", "job.yaml")

    job = yaml.safe_load((files / "job.yaml").read_text())
    cases = list(yaml.safe_load_all(result.stdout))
    assert [case.get("desiredObj") or case["observedObj"] for case in cases] == [job] * 7


def test_suite_has_retain_with_object_of_member(run: Run, files: Path) -> None:
    karta = (files / "karta.yaml").read_text()
    retain = "  annotations: {karta-interpreter.io/retain: .spec.seed}\nspec:\n  structure"
    (files / "karta.yaml").write_text(karta.replace("spec:\n  structure", retain))
    job = yaml.safe_load((files / "job.yaml").read_text())
    other = {**job, "metadata": {"name": "other"}}
    member = {**job, "spec": {**job["spec"], "seed": 7}, "status": {"phase": "Failed"}}
    (files / "both.yaml").write_text(yaml.safe_dump_all([other, job]))
    (files / "member.yaml").write_text(yaml.safe_dump(member))
    sources = ("--object", "both.yaml", "--observed-file", "member.yaml")

    run("create", "suite", "-f", "karta.yaml", *sources, "--output-dir", "testdata")

    (retained,) = yaml.safe_load_all((files / "testdata" / "retain.yaml").read_text())
    assert retained["name"] == "demo", "the other one has no object of its name"
    assert retained["output"]["retained"]["spec"]["seed"] == 7
    assert [retained[key] for key in ("desiredObj", "observedObj")] == ["objects/2.yaml", "objects/3.yaml"]
    healthy = {
        each["name"]: each["output"]
        for each in yaml.safe_load_all((files / "testdata" / "interprethealth.yaml").read_text())
    }
    assert healthy == {"other": {"healthy": True}, "demo": {"healthy": False}}, "of the live object"
    _give_reasons(files)
    assert run("test", "--name", "demo").exit_code == 0


@pytest.mark.parametrize(
    ("options", "count"),
    [pytest.param((), 6, id="twice the count"), pytest.param(("--desired-replica", "0"), 0, id="none")],
)
def test_suite_revises_to_a_count(run: Run, files: Path, options: tuple[str, ...], count: int) -> None:
    del files
    found = run("create", "suite", "-f", "karta.yaml", "--object", "job.yaml", *options).stdout

    (case,) = [each for each in yaml.safe_load_all(found) if each["operation"] == "ReviseReplica"]
    assert (case["inputReplicas"], case["output"]["revised"]["spec"]["replicas"]) == (count, count)


def test_suite_of_a_revision_alone_asks_for_a_count(run: Run, files: Path) -> None:
    script = "function ReviseReplica(obj, count) obj.spec.replicas = count return obj end"
    customization = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "revision"},
        "spec": {
            "target": {name: yaml.safe_load((files / "job.yaml").read_text())[name] for name in ("apiVersion", "kind")},
            "customizations": {"replicaRevision": {"luaScript": script}},
        },
    }
    (files / "revision.yaml").write_text(yaml.safe_dump(customization))

    made = run("create", "suite", "-f", "revision.yaml", "--object", "job.yaml")

    assert (made.exit_code, made.stdout) == (0, "")
    assert made.stderr.startswith("ReviseReplica skipped: pass --desired-replica\n")
    asked = run("create", "suite", "-f", "revision.yaml", "--object", "job.yaml", "--desired-replica", "4")
    assert (yaml.safe_load(asked.stdout)["inputReplicas"], "skipped" in asked.stderr) == (4, False)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(None, "cannot read objects/1.yaml: [Errno 2]", id="missing"),
        pytest.param("- 1", "desiredObj must be an object, but is a list", id="a list"),
    ],
)
def test_unreadable_shared_object_is_an_error(run: Run, files: Path, content: str | None, reason: str) -> None:
    run("create", "suite", "-f", "karta.yaml", "--object", "job.yaml", "--output-dir", "testdata")
    shared = files / "testdata" / "objects" / "1.yaml"
    if content is None:
        shared.unlink()
    else:
        shared.write_bytes(content.encode("latin-1"))

    result = run("test", "testdata/interpretreplica.yaml")

    assert (result.exit_code, 'interpretreplica.yaml:1: case "demo": ' in result.output) == (1, True), result.output
    assert reason in " ".join(result.output.split())


@rows(
    ("arguments", "code"),
    [
        pytest.param(("suite", "-f", "karta.yaml"), 2, id="no object"),
        pytest.param(("suite", "-f", "karta.yaml", "empty.yaml"), 1, id="an empty file"),
        pytest.param(
            ("suite", "-f", "karta.yaml", "job.yaml", "--observed-file", "member.yaml"), 2, id="another object"
        ),
        pytest.param(("karta", "--crd", "karta.yaml"), 1, id="no CRD"),
    ],
)
def test_nothing_is_made_of_unusable_input(run: Run, files: Path, arguments: tuple[str, ...], code: int) -> None:
    (files / "empty.yaml").touch()
    (files / "member.yaml").write_text((files / "job.yaml").read_text().replace("name: demo", "name: demon"))
    result = run("create", *arguments)
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (code, "", 1)


def test_suite_replaces_no_file(run: Run, files: Path) -> None:
    (files / "testdata").mkdir()
    (files / "testdata" / "interprethealth.yaml").write_text("mine")

    result = run("create", "suite", "-f", "karta.yaml", "--object", "job.yaml", "--output-dir", "testdata")

    assert (result.exit_code, [file.name for file in (files / "testdata").iterdir()]) == (1, ["interprethealth.yaml"])
    assert "these files already exist: interprethealth.yaml" in result.stderr


def test_update_writes_only_differences(run: Run, files: Path) -> None:
    run("create", "suite", "-f", "karta.yaml", "--object", "job.yaml", "--output-dir", "testdata")
    _give_reasons(files)
    suite = files / "testdata" / "interpretreplica.yaml"
    good = suite.read_text()
    suite.write_text("# mine\n" + good.replace("  replica: 3\n", "  replica: 4 # wrong\n"))

    updated = run("test", "--update")

    assert (updated.exit_code, "+replica: 3" in updated.stdout) == (0, True)
    assert updated.stderr.splitlines()[-1] == "testdata/interpretreplica.yaml: updated 1 output"
    assert suite.read_text() == "# mine\n" + good


def test_update_writes_missing_output(run: Run, files: Path) -> None:
    run("create", "suite", "-f", "karta.yaml", "--object", "job.yaml", "--output-dir", "testdata")
    _give_reasons(files)
    suite = files / "testdata" / "interpretreplica.yaml"
    good = suite.read_text()
    assert good.index("operation:") < good.index("output:")
    suite.write_text(good[: good.index("output:")])

    first, updated, second = run("test"), run("test", "--update"), run("test")

    assert (first.exit_code, updated.exit_code, second.exit_code) == (1, 0, 0)
    assert "expects nothing, so that any answer would pass" in first.stdout
    assert suite.read_text() == good


def test_update_leaves_case_without_answer(run: Run, files: Path) -> None:
    run("create", "suite", "-f", "karta.yaml", "--object", "job.yaml", "--output-dir", "testdata")
    suite, shared = files / "testdata" / "interpretreplica.yaml", files / "testdata" / "objects" / "1.yaml"
    text = suite.read_text()
    shared.write_text(shared.read_text().replace("replicas: 3", "replicas: many"))

    updated = run("test", "testdata/interpretreplica.yaml", "--update")

    assert (updated.exit_code, suite.read_text()) == (1, text)


def test_update_keeps_ends_of_lines(run: Run, files: Path) -> None:
    run("create", "suite", "-f", "karta.yaml", "--object", "job.yaml", "--output-dir", "testdata")
    _give_reasons(files)
    suite = files / "testdata" / "interpretreplica.yaml"
    good = suite.read_bytes().replace(b"\n", b"\r\n")
    suite.write_bytes(good.replace(b"  replica: 3\r\n", b"  replica: 4\r\n"))

    updated = run("test", "--update")

    assert (updated.exit_code, suite.read_bytes()) == (0, good)


def test_update_follows_a_link(run: Run, files: Path) -> None:
    run("create", "suite", "-f", "karta.yaml", "--object", "job.yaml", "--output-dir", ".shared")
    suite, link = files / ".shared" / "interpretreplica.yaml", files / "testdata" / "linked.yaml"
    good = suite.read_text()
    suite.write_text(good.replace("  replica: 3\n", "  replica: 4\n"))
    link.parent.mkdir()
    link.symlink_to(suite)

    updated = run("test", "--update")

    assert (updated.exit_code, link.is_symlink(), suite.read_text()) == (0, True, good)


def test_update_goes_on_after_unwritable_suite(run: Run, files: Path) -> None:
    run("create", "suite", "-f", "karta.yaml", "--object", "job.yaml", "--output-dir", "testdata")
    first, second = files / "testdata" / "a.yaml", files / "testdata" / "interpretreplica.yaml"
    good = second.read_text()
    in_line = '{name: a, operation: InterpretReplica, output: {replica: 4}, desiredObj: {apiVersion: "%s", kind: %s}}'
    first.write_text(in_line % ("example.io/v1", "Job"))
    second.write_text(good.replace("  replica: 3\n", "  replica: 4\n"))

    updated = run("test", "--update")

    assert (updated.exit_code, second.read_text()) == (1, good)
    assert "error: testdata/a.yaml:1: the output of this case is not a key at the beginning of a line" in updated.stderr


def test_texts_of_a_schema_cannot_end_a_comment(run: Run, files: Path) -> None:
    crd = BAKERY.replace("[Baking, Running]", r'[Running, "ba\N: [", "k\Ling", "\x01"]')
    (files / "crd.yaml").write_text(crd)

    result = run("create", "karta", "--crd", "crd.yaml")

    assert result.exit_code == 0
    assert r"Without a meaning here: ba\x85: [, k\u2028ing, \x01." in " ".join(result.stdout.replace("#", "").split())
