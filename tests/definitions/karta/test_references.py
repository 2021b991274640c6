"""References: which are sound, where they may be read, and what is looked up."""

from collections.abc import Callable
from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError, QueryReferenceError
from karta_interpreter.base.findings import Finding
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import GVK, JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.reference_resolver import Known, ReferenceReader, resolved
from karta_interpreter.engine.evaluation.pods import pod_sets
from karta_interpreter.engine.operations.interpret_dependency import interpret_dependency
from tests.support.rows import rows

Raw = dict[str, Any]
FindingsOf = Callable[[Raw], list[Finding]]

STRUCTURE = ("spec", "structureDefinition")
REFERENCES = (*STRUCTURE, "references")
HALL = {
    "name": "hall",
    "gvk": {"group": "toys.example.com", "version": "v1", "kind": "Hall"},
    "lookup": {"nameExpression": ".spec.hall"},
}
SEATS = {
    "name": "seats",
    "gvk": {"group": "toys.example.com", "version": "v1", "kind": "Seat"},
    "namespaceExpression": ".spec.building",
    "list": {
        "matchLabels": {"orchestra": {"expression": ".metadata.name"}, "state": {"value": "sound"}},
        "matchExpressions": [
            {"key": "row", "operator": "In", "values": [{"value": "a"}, {"expression": ".spec.row"}]},
            {"key": "broken", "operator": "DoesNotExist"},
        ],
    },
}


def referring(raw: Raw, *references: JSON, replicas: str = ".spec.sections[].players") -> Raw:
    raw = edit.set_value(raw, REFERENCES, list(references))
    path = (*STRUCTURE, "childComponents", 1, "scaleDefinition", "replicasPath")
    changed: Raw = edit.set_value(raw, path, replicas)
    return changed


def without(obj: JSON, *path: str) -> JSON:
    return edit.remove(obj, path)


def with_(obj: JSON, value: JSON, *path: str | int) -> JSON:
    return edit.set_value(obj, path, value)


def without_unread(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.rule != "reference-unread"]


@pytest.mark.parametrize("reference", [HALL, SEATS], ids=["one object", "a list"])
def test_sound_references(orchestra: Raw, findings_of: FindingsOf, reference: JSON) -> None:
    annotations = {"karta-interpreter.io/health": f"${reference['name']} != null"}
    assert findings_of(edit.set_value(referring(orchestra, reference), ("metadata", "annotations"), annotations)) == []


@rows(
    ("references", "rule", "message"),
    [
        pytest.param([HALL, HALL], "reference-not-unique", 'the reference "hall" is there twice', id="twice"),
        pytest.param([with_(HALL, "a-b", "name")], "reference-name", '"a-b" is not the name of', id="no variable"),
        pytest.param([with_(HALL, "ENV", "name")], "reference-name", '"ENV" is not the name of', id="taken by jq"),
        pytest.param([with_(HALL, "", "gvk", "kind")], "schema", "must not be empty", id="no kind"),
        pytest.param([without(HALL, "lookup")], "schema", "needs either lookup or list", id="neither"),
        pytest.param([with_(HALL, SEATS["list"], "list")], "schema", "needs either lookup or list", id="both"),
        pytest.param([with_(SEATS, {}, "list")], "reference-without-labels", "lists every object", id="all of them"),
        pytest.param([with_(SEATS, {}, "list", "matchLabels", "state")], "schema",
                     "needs either value or expression", id="an empty label value"),
        pytest.param([with_(SEATS, "Inn", "list", "matchExpressions", 0, "operator")], "schema",
                     "'In', 'NotIn', 'Exists' or 'DoesNotExist'", id="a slip in an operator"),
        pytest.param([with_(SEATS, [], "list", "matchExpressions", 0, "values")], "schema",
                     "In and NotIn need values", id="In without values"),
        pytest.param([with_(SEATS, "Exists", "list", "matchExpressions", 0, "operator")], "schema",
                     "the others take none", id="Exists with values"),
        pytest.param([HALL, with_(SEATS, "$hall.row", "namespaceExpression")], "expression-refused",
                     "there is no variable `$hall` here", id="a namespace that reads another reference"),
        pytest.param([{**HALL, "name": "first", "lookup": {"nameExpression": "$hall.row"}}, HALL], "expression-refused",
                     "there is no variable `$hall` here", id="a name that reads a later reference"),
    ],
)  # fmt: skip
def test_unsound_references(
    orchestra: Raw, findings_of: FindingsOf, references: list[JSON], rule: str, message: str
) -> None:
    (finding,) = without_unread(findings_of(referring(orchestra, *references)))
    assert finding.rule == rule
    assert message in finding.message
    assert finding.path[:3] == REFERENCES


@pytest.mark.parametrize("replicas", [".hall.spec.players", ".spec.sections[].players"])
def test_reference_that_nothing_reads_is_found(orchestra: Raw, findings_of: FindingsOf, replicas: str) -> None:
    findings = findings_of(referring(orchestra, HALL, replicas=replicas))
    unread = [finding for finding in findings if finding.rule == "reference-unread"]
    assert [finding.path for finding in unread] == [(*REFERENCES, 0, "name")]
    assert "write `$hall` where its object is meant" in unread[0].hint


def test_reference_whose_name_begins_another_is_unread(orchestra: Raw, findings_of: FindingsOf) -> None:
    findings = findings_of(referring(orchestra, {**HALL, "name": "ha"}, HALL, replicas="$hall.spec.players"))
    assert [finding.path[-2:] for finding in findings if finding.rule == "reference-unread"] == [(0, "name")]


@rows(
    ("path", "text", "refused"),
    [
        pytest.param((*STRUCTURE, "childComponents", 1, "scaleDefinition", "replicasPath"),
                     "$hall.spec.sections[].players", False, id="a count"),
        pytest.param((*STRUCTURE, "rootComponent", "statusDefinition", "conditionsDefinition", "path"),
                     "$hall.status.conditions", False, id="a status"),
        pytest.param((*STRUCTURE, "childComponents", 1, "podSelector", "componentInstanceSelector", "idPath"),
                     "$hall.metadata.name", True, id="pods are read elsewhere"),
    ],
)  # fmt: skip
def test_reference_is_refused_in_some_fields(
    orchestra: Raw, findings_of: FindingsOf, path: tuple[str | int, ...], text: str, refused: bool
) -> None:
    raw = edit.set_value(referring(orchestra, HALL), path, text)
    assert [finding.rule for finding in findings_of(raw)] == (["expression-refused"] if refused else [])


def test_annotations_may_read_references(orchestra: Raw, findings_of: FindingsOf) -> None:
    annotations = {"karta-interpreter.io/health": "$hall.status.open"}
    assert findings_of(edit.set_value(referring(orchestra, HALL), ("metadata", "annotations"), annotations)) == []


def hall(name: str, players: int, namespace: str = "") -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    spec = {"sections": [{"players": players}]}
    return {"apiVersion": "toys.example.com/v1", "kind": "Hall", "metadata": metadata, "spec": spec}


def seat(name: str, namespace: str = "north", **labels: str) -> Object:
    metadata = {"name": name, "namespace": namespace, "labels": {"orchestra": "o", "state": "sound", **labels}}
    return {"apiVersion": "toys.example.com/v1", "kind": "Seat", "metadata": metadata}


OBJECT: Object = {
    "apiVersion": "toys.example.com/v1",
    "kind": "Orchestra",
    "metadata": {"name": "o", "namespace": "town"},
    "spec": {
        "hall": "great",
        "building": "north",
        "row": "c",
        "sections": [{"name": "brass", "template": {"spec": {"containers": []}}}],
    },
}


def players(definition: Definition, reader: ReferenceReader | None, obj: Object = OBJECT) -> int:
    (pods,) = pod_sets(resolved(definition, obj, reader), obj)
    return pods.replicas


@rows(
    ("objects", "found"),
    [
        pytest.param([hall("small", 1), hall("great", 9)], 9, id="by its name"),
        pytest.param([hall("great", 1, "village"), hall("great", 9, "town")], 9, id="in the workload's namespace"),
        pytest.param([hall("great", 9)], 9, id="in no namespace"),
    ],
)
def test_lookup_finds_one_object(orchestra: Raw, objects: list[Object], found: int) -> None:
    definition = load_definition(referring(orchestra, HALL, replicas="$hall.spec.sections[].players"))
    assert players(definition, Known.of(objects)) == found


@rows(
    ("reader", "hall_name", "message"),
    [
        pytest.param(None, "great",
                     r"\$hall has no value: toys.example.com/v1, Kind=Hall great cannot be looked up: nothing is read "
                     r"from the control plane of Karmada; create it there, and start the server with --cluster",
                     id="no reader"),
        pytest.param(Known.of([hall("small", 1)]), "great",
                     r"\$hall has no value: toys.example.com/v1, Kind=Hall great cannot be looked up: it is not among",
                     id="not among them"),
        pytest.param(Known.of([]), 7, r"\$hall has no value: `.spec.hall` gives a number", id="a name that is none"),
    ],
)  # fmt: skip
def test_failed_lookup_is_an_error_that_names_it(
    orchestra: Raw, reader: ReferenceReader | None, hall_name: JSON, message: str
) -> None:
    definition = load_definition(referring(orchestra, HALL, replicas="$hall.spec.sections[].players"))
    with pytest.raises(InterpretationError, match=message):
        players(definition, reader, with_(OBJECT, hall_name, "spec", "hall"))


@rows(
    ("names", "found"),
    [
        pytest.param(["great", "small"], 10, id="each object once"),
        pytest.param(["great", "great"], 18, id="an object as often as it is named"),
        pytest.param(["great", "gone"], 9, id="null for one that does not exist"),
        pytest.param(["great", None], 9, id="null where there is no name"),
        pytest.param([], 0, id="no names"),
    ],
)
def test_lookup_of_array_of_names_gives_a_list(orchestra: Raw, names: list[JSON], found: int) -> None:
    halls = {**HALL, "lookup": {"nameExpression": "[.spec.halls[].name]"}}
    raw = referring(orchestra, halls, replicas="[$hall[].spec.sections[].players] | add // 0")
    reader = Known.of([hall("small", 1), hall("great", 9)], [GVK("toys.example.com", "v1", "Hall")])
    obj = with_(OBJECT, [{"name": name} for name in names], "spec", "halls")
    assert players(load_definition(raw), reader, obj) == found


def test_lookup_of_array_keeps_order_of_names(orchestra: Raw) -> None:
    halls = {**HALL, "lookup": {"nameExpression": "[.spec.halls[].name]"}}
    definition = load_definition(referring(orchestra, halls, replicas="$hall[1].spec.sections[].players"))
    reader = Known.of([hall("small", 1), hall("great", 9)])
    for names, second in ((["great", "small"], 1), (["small", "great"], 9)):
        assert players(definition, reader, with_(OBJECT, [{"name": name} for name in names], "spec", "halls")) == second


@rows(
    ("objects", "found", "absent"),
    [
        pytest.param(["small", "great"], 9, [], id="both"),
        pytest.param(["great"], 0, ["small"], id="the first is absent: it is named, and there is no second name"),
        pytest.param(["small"], 0, ["great"], id="the second is absent"),
    ],
)
def test_name_of_an_object_may_be_in_one_before_it(
    orchestra: Raw, objects: list[str], found: int, absent: list[str]
) -> None:
    first = {**HALL, "name": "first", "lookup": {"nameExpression": "[.spec.first]"}}
    second = {**HALL, "lookup": {"nameExpression": "[$first[0].spec.next | values]"}}
    raw = referring(orchestra, first, second, replicas="$hall[0].spec.sections[0].players // 0")
    known = [with_(hall(name, 9), "great", "spec", "next") if name == "small" else hall(name, 9) for name in objects]
    obj = with_(OBJECT, "small", "spec", "first")
    definition = resolved(load_definition(raw), obj, Known.of(known))
    (pods,) = pod_sets(definition, obj)
    assert pods.replicas == found
    assert [name for name in ("small", "great") if any(f" {name} " in reason for reason in definition.absent)] == absent


class _Unlisted(Known):
    def get(self, gvk: GVK, namespace: str, name: str) -> Object | None:  # noqa: ARG002 - nothing is listed
        raise QueryReferenceError("it is not listed yet")


@pytest.mark.parametrize("name", ["$first.spec.next", "[$first.spec.next]"])
def test_second_reference_waits_for_the_first(orchestra: Raw, name: str) -> None:
    first = {**HALL, "name": "first"}
    raw = referring(orchestra, first, {**HALL, "lookup": {"nameExpression": name}}, replicas="$hall | length")
    with pytest.raises(InterpretationError, match=r"\$hall has no value: .*Hall great .*it is not listed yet"):
        players(load_definition(raw), _Unlisted({}))


NAMES = """{name: .metadata.name}, {name: "at night"},
(.spec.sections[] | {name: "for \\(.players)", rank: (.rank // 0)})"""


def ranked(name: str, players: int, rank: int | None) -> Object:
    return {**hall(name, players), "spec": {"sections": [{"players": players, "rank": rank}]}}


@rows(
    ("name", "objects", "found"),
    [
        pytest.param("great", [hall("small", 1), hall("great", 9)], ["great"], id="its own name"),
        pytest.param("for 9, at night", [hall("small", 1), hall("great", 9)], ["great"], id="all of several names"),
        pytest.param("for 9, by day", [hall("great", 9)], [], id="not all of them"),
        pytest.param("at night, for 1", [ranked("a", 1, 2), ranked("c", 1, 7), ranked("b", 1, 7)], ["b"],
                     id="the greatest rank, and of equal ones the first by name"),
    ],
)  # fmt: skip
def test_lookup_by_names_of_objects_finds_the_first_by_rank(
    orchestra: Raw, name: str, objects: list[Object], found: list[str]
) -> None:
    halls = {**HALL, "lookup": {"nameExpression": ".spec.hall", "namesExpression": NAMES}}
    raw = edit.set_value(referring(orchestra, halls), ("metadata", "annotations"), {
        "karta-interpreter.io/dependencies": "[{apiVersion: v1, kind: ConfigMap, name: $hall.metadata.name}]",
    })  # fmt: skip
    obj = with_(OBJECT, name, "spec", "hall")
    definition = resolved(load_definition(raw), obj, Known.of(objects))
    assert [each.name for each in interpret_dependency(definition, obj)] == found


@pytest.mark.parametrize(
    ("reader", "optional", "absent"),
    [
        pytest.param(Known.of([]), False, 1, id="an object that is missing"),
        pytest.param(Known.of([]), True, 0, id="an object that may be missing"),
        pytest.param(None, False, 1, id="objects that cannot be looked up"),
        pytest.param(None, True, 0, id="objects that may be missing and cannot be looked up"),
    ],
)
@pytest.mark.parametrize("name", [".spec.hall", "[.spec.hall]"])
def test_missing_object_is_reported_unless_it_is_optional(
    orchestra: Raw, reader: ReferenceReader | None, optional: bool, absent: int, name: str
) -> None:
    halls = {**HALL, "lookup": {"nameExpression": name, "optional": optional}}
    definition = load_definition(referring(orchestra, halls, replicas="1"))
    assert len(resolved(definition, OBJECT, reader).absent) == absent


@rows(
    ("objects", "complete", "found"),
    [
        pytest.param([hall("great", 9, "town"), hall("great", 2, "land")], True, 9, id="the first namespace"),
        pytest.param([hall("great", 2, "land")], True, 2, id="the next one"),
        pytest.param([hall("great", 2, "land")], False, 2, id="the only one that was given"),
        pytest.param([hall("great", 5, "sea")], True, 0, id="none of them"),
    ],
)
def test_lookup_in_several_namespaces_finds_the_first_object(
    orchestra: Raw, objects: list[Object], complete: bool, found: int
) -> None:
    namespaces = {"namespaceExpression": '[.metadata.namespace, "land"]'}
    halls = {**HALL, **namespaces, "lookup": {"nameExpression": '["great"]'}}
    raw = referring(orchestra, halls, replicas="[$hall[].spec.sections[].players] | add // 0")
    reader = Known.of(objects, [GVK("toys.example.com", "v1", "Hall")] if complete else [])
    assert players(load_definition(raw), reader, with_(OBJECT, "town", "metadata", "namespace")) == found


@rows(
    ("reference", "message"),
    [
        pytest.param(
            with_(HALL, ".spec.halls[].name", "lookup", "nameExpression"),
            r"\$found has no value: nameExpression `.spec.halls\[\].name` gives 2 results where one belongs; "
            r"`\[.spec.halls\[\].name\]` looks up a list",
            id="names",
        ),
        pytest.param(with_(HALL, ".spec.halls[].name", "namespaceExpression"),
            r"\$found has no value: namespaceExpression `.spec.halls\[\].name` gives 2 results where one belongs",
            id="namespaces"),
        pytest.param(with_(SEATS, {"expression": ".spec.halls[].name"}, "list", "matchLabels", "state"),
            r"\$found has no value: the label state `.spec.halls\[\].name` gives 2 results where one belongs",
            id="values of a label"),
        pytest.param(with_(HALL, "[.spec.halls]", "lookup", "nameExpression"),
            r"`\[.spec.halls\]` gives a list where text belongs", id="an array within an array"),
    ],
)  # fmt: skip
def test_several_results_are_an_error_and_never_the_first_one(orchestra: Raw, reference: Raw, message: str) -> None:
    definition = load_definition(referring(orchestra, {**reference, "name": "found"}, replicas="$found | length"))
    obj = with_(OBJECT, [{"name": "great"}, {"name": "small"}], "spec", "halls")
    with pytest.raises(InterpretationError, match=message):
        players(definition, Known.of([hall("small", 1), hall("great", 9)]), obj)


@rows(
    ("expression", "hint"),
    [
        pytest.param(".spec.halls[].name", "first(...)", id="an iteration"),
        pytest.param(".spec.hall, .spec.other", "first(...)", id="a comma"),
        pytest.param("[.spec.halls[].name]", "", id="an array"),
        pytest.param("first(.spec.halls[].name)", "", id="the first one"),
        pytest.param(".spec | select(.hall) | .hall", "", id="one or none"),
    ],
)
def test_name_with_several_outputs_is_a_warning(
    orchestra: Raw, findings_of: FindingsOf, expression: str, hint: str
) -> None:
    found = without_unread(findings_of(referring(orchestra, with_(HALL, expression, "lookup", "nameExpression"))))
    assert [each.rule for each in found] == (["several-results"] if hint else [])
    assert all(hint in each.hint for each in found)


@pytest.mark.parametrize(
    ("reader", "obj"),
    [
        pytest.param(Known.of([], [GVK("toys.example.com", "v1", "Hall")]), OBJECT, id="it is known not to exist"),
        pytest.param(Known.of([]), without(OBJECT, "spec", "hall"), id="the workload names none"),
    ],
)
def test_missing_reference_is_null(orchestra: Raw, reader: ReferenceReader, obj: Object) -> None:
    definition = load_definition(referring(orchestra, HALL, replicas="$hall.spec.players // 3"))
    assert players(definition, reader, obj) == 3


@rows(
    ("listed", "taken"),
    [
        pytest.param(seat("s", row="a"), True, id="everything fits"),
        pytest.param(seat("s", row="c"), True, id="a value that the workload has"),
        pytest.param(seat("s", row="b"), False, id="another row"),
        pytest.param(seat("s"), False, id="no row"),
        pytest.param(seat("s", row="a", orchestra="other"), False, id="another orchestra"),
        pytest.param(seat("s", row="a", broken="yes"), False, id="a label that should not be there"),
        pytest.param(seat("s", "south", row="a"), False, id="another namespace"),
        pytest.param({"apiVersion": "toys.example.com/v1", "kind": "Seat", "metadata": {"name": "s"}}, False,
                     id="no labels"),
    ],
)  # fmt: skip
def test_objects_are_listed_by_their_labels(orchestra: Raw, listed: Object, taken: bool) -> None:
    definition = load_definition(referring(orchestra, SEATS, replicas="$seats | length"))
    assert players(definition, Known.of([listed])) == int(taken)


@pytest.mark.parametrize(("operator", "taken"), [("NotIn", "b"), ("Exists", "a")])
def test_label_operator_selects_objects(orchestra: Raw, operator: str, taken: str) -> None:
    rule = {"key": "row", "operator": operator, "values": [{"value": "a"}] if operator == "NotIn" else []}
    listing = {"matchExpressions": [rule]}
    definition = load_definition(referring(orchestra, with_(SEATS, listing, "list"), replicas="$seats[].metadata.n"))
    seats = [with_(seat("s", row=row), number, "metadata", "n") for row, number in (("a", 1), ("b", 2))]
    lost = with_(without(seat("s"), "metadata", "labels"), 9, "metadata", "n")
    objects = seats if operator == "NotIn" else [seats[0], lost]
    assert players(definition, Known.of(objects)) == {"a": 1, "b": 2}[taken]


def test_object_without_the_label_is_not_in_the_values(orchestra: Raw) -> None:
    """As in Kubernetes: `NotIn` matches an object without the label, too (labels.Requirement.Matches)."""
    rule = {"key": "row", "operator": "NotIn", "values": [{"value": "a"}]}
    listing = with_(SEATS, {"matchExpressions": [rule]}, "list")
    definition = load_definition(referring(orchestra, listing, replicas="$seats[].metadata.n"))
    lost = with_(without(seat("s"), "metadata", "labels"), 9, "metadata", "n")
    assert players(definition, Known.of([lost])) == 9


def test_values_can_be_given_by_name(orchestra: Raw) -> None:
    definition = load_definition(referring(orchestra, HALL, replicas="$hall.players"))
    (pods,) = pod_sets(definition.bound({"hall": {"players": 4}}), OBJECT)
    assert pods.replicas == 4


def test_bound_shares_parts_that_read_no_reference(orchestra: Raw) -> None:
    definition = load_definition(referring(orchestra, HALL, replicas="$hall.players"))

    made = [definition.bound({"hall": {"players": players}}) for players in (4, 5)]

    (root, conductor, section), *copies = (each.components for each in (definition, *made))
    assert all(copy[0] is root and copy[1] is conductor for copy in copies)
    assert [copy[2].replicas.evaluate({}) for copy in copies if copy[2].replicas] == [[4], [5]]
    assert all(copy[2].pods is section.pods for copy in copies)
    assert not any(each.references for each in made)


def test_workloads_that_name_nothing_share_all_parts(orchestra: Raw) -> None:
    halls = {**HALL, "lookup": {"nameExpression": "[.spec.halls[].name]"}}
    definition = load_definition(referring(orchestra, halls, replicas="[$hall[]?.players] | add // 3"))

    values: list[JSON] = [[], [], None]
    none, again, null = (definition.bound({"hall": value}).components[2] for value in values)

    assert none is again, "the copies of expressions are made once"
    assert null is not none, "null and an empty list are different values"
    assert [each.replicas.evaluate({}) for each in (none, null) if each.replicas] == [[3], [3]]
    assert definition.bound({"hall": [{"players": 4}]}).components[2] is not none


def test_definition_without_references_is_returned_unchanged(orchestra: Raw) -> None:
    definition = load_definition(orchestra)
    assert resolved(definition, OBJECT, None) is definition


class _Secretive(ReferenceReader):
    def get(self, gvk: GVK, namespace: str, name: str) -> Object | None:
        raise QueryReferenceError(f"{gvk} {name} in {namespace} is secret")

    def list(self, gvk: GVK, namespace: str | None) -> list[Object]:
        raise QueryReferenceError(f"{gvk} in {namespace} is secret")


def test_object_that_reader_withholds_stays_unknown(orchestra: Raw) -> None:
    definition = load_definition(referring(orchestra, HALL, replicas="$hall.players"))
    with pytest.raises(InterpretationError, match="Hall great in town is secret"):
        players(definition, _Secretive())


@pytest.mark.parametrize("replicas", ["$hall.players", "$seats | length"], ids=["one object", "a list"])
@pytest.mark.parametrize("reader", [None, _Secretive()], ids=["no reader", "a reader that may not read"])
def test_unreadable_kind_is_an_error(orchestra: Raw, reader: ReferenceReader | None, replicas: str) -> None:
    definition = load_definition(referring(orchestra, HALL, SEATS, replicas=replicas))
    with pytest.raises(InterpretationError, match=r"is secret|nothing is read"):
        players(definition, reader)
