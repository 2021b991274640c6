"""Reading of YAML and JSON text."""

import json

import orjson
import pytest
import yaml
from hypothesis import given, strategies as st

from karta_interpreter.base.errors import ManifestError
from karta_interpreter.base.k8s.manifest import read_documents, read_objects
from karta_interpreter.base.k8s.values import JSON, Path
from tests.support.rows import rows

MANIFEST = """\
# A job
apiVersion: batch/v1
kind: Job
spec:
  template:
    containers:
      - name: web
        args: [--fast, "two words"]
      - name: |
          block
  empty:
"""


def value(text: str) -> JSON:
    (document,) = read_documents(text, "test.yaml")
    return document.value


@rows(
    ("path", "place"),
    [
        pytest.param((), (2, 1), id="the document, behind its comment"),
        pytest.param(("kind",), (3, 7), id="a value in a mapping"),
        pytest.param(("spec",), (5, 3), id="a mapping starts at its first key"),
        pytest.param(("spec", "template", "containers"), (7, 7), id="a list starts at its first dash"),
        pytest.param(("spec", "template", "containers", 0), (7, 9), id="an element"),
        pytest.param(("spec", "template", "containers", 0, "args", 1), (8, 24), id="inside a flow list"),
        pytest.param(("spec", "template", "containers", 1, "name"), (9, 15), id="a block scalar"),
        pytest.param(("spec", "absent", "deeper"), (5, 3), id="what is absent has its nearest ancestor's place"),
        pytest.param(("spec", "template", "containers", 5), (7, 7), id="an absent element"),
        pytest.param(("kind", "deeper"), (3, 7), id="below a scalar"),
    ],
)
def test_positions(path: Path, place: tuple[int, int]) -> None:
    (document,) = read_documents(MANIFEST, "job.yaml")
    assert document.position(path) == place


def test_empty_value_has_position_behind_its_key() -> None:
    (document,) = read_documents(MANIFEST, "job.yaml")
    assert document.position(("spec", "empty")) == (11, 9)


def test_positions_count_characters_and_lines_of_any_kind() -> None:
    (document,) = read_documents("a: 1\r\nb: {é: 2, c: 3}\r\n", "windows.yaml")
    assert document.value == {"a": 1, "b": {"é": 2, "c": 3}}
    assert document.position(("b", "c")) == (2, 14)


def test_empty_documents_are_skipped() -> None:
    text = "# nothing\n---\na: 1\n---\n---\n~\n---\n- b\n...\n# end\n"
    documents = read_documents(text, "many.yaml")
    assert [(one.value, one.source, one.line) for one in documents] == [
        ({"a": 1}, "many.yaml", 3),
        (["b"], "many.yaml", 8),
    ]


@rows("text", ["", "\n\n", "# only a comment", "---", "---\n---\n", "\ufeff", "null"])
def test_empty_manifest_holds_no_documents(text: str) -> None:
    assert read_documents(text, "empty.yaml") == []


@rows(
    ("text", "expected"),
    [
        pytest.param("\ufeffa: 1", {"a": 1}, id="byte order mark"),
        pytest.param("a: 2001-01-01", {"a": "2001-01-01"}, id="a date stays a string"),
        pytest.param("a: yes\nb: 'yes'", {"a": True, "b": "yes"}, id="quotes make a string"),
        pytest.param("a: 0644\nb: '0644'", {"a": 420, "b": "0644"}, id="octal"),
        pytest.param("a: !!str 1\nb: ! yes", {"a": "1", "b": "yes"}, id="tags for a string"),
        pytest.param('a: !!int "3"\nb: !!float 3\nc: !!bool "on"', {"a": 3, "b": 3, "c": True}, id="tags of scalars"),
        pytest.param("a: !!map {b: !!seq [1]}", {"a": {"b": [1]}}, id="tags of containers"),
        pytest.param("a: |\n  x\n   y\nb: >-\n  c\n  d\n", {"a": "x\n y\n", "b": "c d"}, id="block scalars"),
        pytest.param("a: &x [1]\nb: *x", {"a": [1], "b": [1]}, id="an alias"),
        pytest.param("&k a: 1\nb: *k", {"a": 1, "b": "a"}, id="an alias of a key"),
        pytest.param("a: &x 1\nb: &x 2\nc: *x", {"a": 1, "b": 2, "c": 2}, id="the nearest anchor of a name"),
        pytest.param("? a\n: 1", {"a": 1}, id="an explicit key"),
        pytest.param('"1": a\n"yes": b', {"1": "a", "yes": "b"}, id="quoted keys"),
        pytest.param("a: <<", {"a": "<<"}, id="<< as a value"),
        pytest.param('"<<": 1', {"<<": 1}, id="<< in quotes is a key"),
        pytest.param(
            "p: &x {a: 1, b: 1}\nq:\n  <<: *x\n  b: 2", {"p": {"a": 1, "b": 1}, "q": {"a": 1, "b": 2}}, id="merge"
        ),
        pytest.param("<<: [{a: 1}, {a: 2, b: 2}]", {"a": 1, "b": 2}, id="of merged ones the first wins"),
        pytest.param("b: 2\n<<: {b: 1, a: 1}", {"b": 2, "a": 1}, id="wherever the merge key stands"),
        pytest.param("%YAML 1.1\n---\na: 1", {"a": 1}, id="a directive"),
        pytest.param("{a: 1, b: [w, x]}", {"a": 1, "b": ["w", "x"]}, id="flow style is not JSON"),
        pytest.param("just text", "just text", id="a scalar document"),
        pytest.param("error: x\nname: a", {"error": "x", "name": "a"}, id="a case of a suite, no error of a command"),
        pytest.param("Name: a\nNamespace: b", {"Name": "a", "Namespace": "b"}, id="a mapping, not kubectl's text"),
    ],
)
def test_yaml(text: str, expected: JSON) -> None:
    assert value(text) == expected
    assert json.dumps(value(text), sort_keys=True) == json.dumps(expected, sort_keys=True)


@rows(
    ("text", "place", "message"),
    [
        pytest.param("a:\n\t- b", (2, 1), "character that cannot start any token", id="tab"),
        pytest.param("a: b: c", (1, 5), "mapping values are not allowed", id="two colons"),
        pytest.param("a: [1, 2", (2, 1), "did not find expected ',' or ']'", id="an open bracket"),
        pytest.param("a: 'x", (1, 4), "a quoted scalar: found unexpected end of stream", id="an open quote"),
        pytest.param(
            "# b\n  a: 1\nb: 2",
            (3, 1),
            "ends above this line: the first line is indented, and this one is not",
            id="the first key is deeper",
        ),
        pytest.param("{a: 1}\nb: 2", (2, 1), "ends above this line: before it --- is missing", id="two documents"),
        pytest.param("a: 1\n b: 2", (2, 3), "mapping values are not allowed", id="a key that is deeper"),
        pytest.param("a:\n    b: 1\n  c: 2", (3, 3), "did not find expected key", id="a key between two levels"),
        pytest.param("a:\n  - b: 1\n  c: 2", (3, 3), "did not find expected '-' indicator", id="a lost list"),
        pytest.param("a: 1\nb\nc: 2", (2, 1), "could not find expected ':'", id="a line without a colon"),
        pytest.param("a: 1\nb:2\nc: 3", (2, 1), "could not find expected ':'", id="a colon without a space"),
        pytest.param("a: '\"b\"' // 1", (1, 10), "did not find expected key", id="text behind a quote"),
        pytest.param("a: {b: 1\nc: 1", (2, 2), "did not find expected ',' or '}'", id="an open brace"),
        pytest.param("a: @b", (1, 4), "cannot start any token", id="a character that YAML reserves"),
        pytest.param(
            "a: {{ .Values.a }}\nb: 1", (1, 5), "a key must be a plain string", id="a value of a Helm template"
        ),
        pytest.param("a: 1\n{{- if .b }}\nb: 1\n{{ end }}", (2, 1), "expected ':'", id="a branch of one"),
        pytest.param('{"a": 1\n "b": 2}', (2, 2), "broken JSON: .*','", id="JSON without a comma"),
        pytest.param('{"a": 1, // one\n "b": 2}', (1, 10), "broken JSON: unexpected character", id="a comment in JSON"),
        pytest.param('{"a": [1,\n 2}', (2, 3), "broken JSON: .*[]']", id="JSON with an open bracket"),
        pytest.param('[{"a": 1}', (1, 10), "broken JSON: unexpected end of data", id="JSON that ends early"),
        pytest.param('{"a": 1}}', (1, 9), "broken JSON: ", id="JSON that goes on"),
        pytest.param("a: 1\nb:\n  c: 1\n  c: 2", (4, 3), '"c" appears twice', id="duplicate key"),
        pytest.param('{"a": 1, "a": 2}', (1, 10), '"a" appears twice', id="duplicate key in JSON"),
        pytest.param("on: push", (1, 1), "key on is a boolean.*quote it", id="a key that is true"),
        pytest.param("a:\n  8080: x", (2, 3), "key 8080 is a number.*quote it", id="a key that is a number"),
        pytest.param("a: 1\n~: x", (2, 1), "key ~ is null", id="a null key"),
        pytest.param("[a]: x", (1, 1), "key must be a plain string", id="a list as key"),
        pytest.param("a: &x 1\n*x : 2", (2, 1), "key must be a plain string", id="an alias as key"),
        pytest.param("a: *x", (1, 4), r"\*x refers to no anchor", id="unknown alias"),
        pytest.param("a: 1\n---\nb: &x 1\n---\nc: *x", (5, 4), "no anchor", id="an anchor of another document"),
        pytest.param("a: &x [*x]", (1, 8), r"\*x refers to the value it is in", id="recursive alias"),
        pytest.param("a: .nan", (1, 4), "not a JSON number", id="NaN"),
        pytest.param("a: [-.inf]", (1, 5), "not a JSON number", id="infinity"),
        pytest.param("a: !!binary aGk=", (1, 4), "tag !!binary is not supported", id="binary"),
        pytest.param("a: !Ref b", (1, 4), "tag !Ref is not supported", id="a tag of one's own"),
        pytest.param("a: !!set {b}", (1, 4), "tag !!set is not supported", id="a set"),
        pytest.param("<<: 1", (1, 5), "<< needs a mapping", id="merging a number"),
        pytest.param("<<: [{a: 1}, 2]", (1, 14), "<< needs a mapping", id="merging a list with a number"),
        pytest.param("a: \x01", (1, 4), r"U\+0001 is not allowed", id="control character"),
        pytest.param("a: 1\nb: \ud800", (2, 4), "surrogate", id="half a surrogate pair"),
        pytest.param("a: 1\n--- b: [\n", (2, 6), "mapping values are not allowed", id="in a later document"),
        pytest.param("---\na\n" * 10_001, (20_002, 1), "more than 10000 documents", id="too many documents"),
    ],
)
def test_unreadable_manifest_is_refused_with_its_place(text: str, place: tuple[int, int], message: str) -> None:
    with pytest.raises(ManifestError, match=message) as caught:
        read_documents(text, "bad.yaml")
    assert (caught.value.line, caught.value.column) == place


@pytest.mark.parametrize("kind", ["List", "JobList"])
def test_lists_hold_no_more_objects_than_documents(kind: str) -> None:
    text = f"kind: First\n---\nkind: {kind}\nitems: [{'1, ' * 10_000}]\n"

    with pytest.raises(ManifestError, match="more than 10000 objects") as caught:
        read_objects(text, "many.yaml", "Job")

    assert caught.value.line == 3
    assert len(read_objects(text.replace("1, ", "", 1), "many.yaml", "Job")) == 10_000


@rows("kind", ["[]", "{}", "null", "1"])
def test_document_with_kind_of_wrong_type_is_not_a_list(kind: str) -> None:
    ((_, path, value),) = read_objects(f'{{"kind": {kind}, "items": [1]}}', "-", "Job")

    assert (path, value) == ((), {"kind": json.loads(kind), "items": [1]})


@rows(
    "text",
    [
        pytest.param("[" * 100_000, id="open lists"),
        pytest.param("[" * 300 + "]" * 300, id="JSON lists"),
        pytest.param("- " * 300 + "x", id="block lists"),
        pytest.param(f"a: &a {'[' * 150}{']' * 150}\nb: {'[' * 50}*a{']' * 50}", id="lists in an alias"),
        pytest.param('{"a":' * 2000 + "1" + "}" * 2000, id="JSON objects"),
    ],
)
def test_documents_that_are_too_deep(text: str) -> None:
    with pytest.raises(ManifestError, match="nested more than 200 levels"):
        read_documents(text, "deep.yaml")


def test_json_of_two_hundred_levels_is_read() -> None:
    assert orjson.dumps(value("[" * 200 + "]" * 200))


def test_alias_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    with pytest.raises(ManifestError, match=r"aliases .* more than 100000 values") as caught:
        read_documents("\n".join(lines), "bomb.yaml")
    assert caught.value.line == 5  # 10 lists of 11, 111 and 1111 values fit; ten of 11111 do not


def test_merged_keys_follow_in_their_order() -> None:
    keys = [f"k{i}" for i in range(20)]
    merged = value(f"<<: {{{', '.join(f'{key}: 1' for key in keys)}}}\nown: 1")
    assert list(merged) == ["own", *keys]


def test_positions_inside_an_alias_are_those_of_its_anchor() -> None:
    (document,) = read_documents("a: &x\n  b: 1\nc: *x\n", "alias.yaml")
    assert document.position(("c",)) == (3, 4)
    assert document.position(("c", "b")) == (2, 6)


@rows(
    ("text", "expected"),
    [
        pytest.param('{\n\t"a": "\\/x"\n}', {"a": "/x"}, id="tabs and escaped slashes"),
        pytest.param(r'{"a": "\ud83d\ude00"}', {"a": "\U0001f600"}, id="surrogate escapes"),
        pytest.param('{"a": "x\u0085y\u2028z"}', {"a": "x\u0085y\u2028z"}, id="line breaks of YAML 1.1"),
        pytest.param(json.dumps({"k" * 2000: 1}), {"k" * 2000: 1}, id="long keys"),
        pytest.param('["yes", "~", "1", "<<", null, true]', ["yes", "~", "1", "<<", None, True], id="strings stay"),
        pytest.param('{"<<": {"a": 1}}', {"<<": {"a": 1}}, id="no merge keys"),
        pytest.param("[-0.5e1, 18446744073709551615]", [-5, 18446744073709551615], id="numbers"),
        pytest.param('{"a": 1}\n---\n{"b": 2}', None, id="documents of JSON"),
        pytest.param('{"a": "\\u0022 : [,"}', {"a": '" : [,'}, id="punctuation in strings"),
    ],
)
def test_json(text: str, expected: JSON) -> None:
    documents = [document.value for document in read_documents(text, "test.json")]
    assert documents == ([{"a": 1}, {"b": 2}] if expected is None else [expected])


def test_positions_in_json() -> None:
    (document,) = read_documents('{\n  "a": [1, {"b": "c"}],\n  "d": null}\n', "test.json")
    assert document.position(()) == (1, 1)
    assert document.position(("a", 1, "b")) == (2, 18)
    assert document.position(("d",)) == (3, 8)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(-1e6, 1e6) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
COLLECTIONS = st.lists(VALUES, max_size=4) | st.dictionaries(TEXTS, VALUES, max_size=4)


@given(COLLECTIONS, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_any_json_reads_as_json(document: JSON, indent: int | str | None, ascii_only: bool) -> None:
    assert value(json.dumps(document, indent=indent, ensure_ascii=ascii_only)) == document


WORDS = st.text("abyeson019.-:#~é ", max_size=6)
YAML_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(WORDS, YAML_VALUES, min_size=1, max_size=4), st.booleans())
def test_yaml_of_pyyaml_is_read_back(document: JSON, flow: bool) -> None:
    written = yaml.safe_dump(document, default_flow_style=flow, allow_unicode=True, default_style='"')
    assert value(written) == document
