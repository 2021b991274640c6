"""Fights by who wrote what: series of writes on an API server that keeps managed fields, and single comparisons."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.k8s.patch import diff, patched
from karta_interpreter.engine.fights.rounds import MOST_FIELDS, compared, differences
from tests.engine.fights.series import KARMADA, Change, Series, template
from tests.support.managed_fields import TYPED, Keys, Member, Thing
from tests.support.rows import rows

Step = Callable[[Series, int], None]
"""Writes of one round; also gets its number."""
KEYS = st.sampled_from(["name", "a", "b/c", "spec", "d~e"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers(-3, 3) | st.sampled_from(["", "x", "1"]),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(KEYS, parts, max_size=3),
    max_leaves=12,
)
OBJECTS = st.fixed_dictionaries({"spec": VALUES, "status": VALUES})


@given(OBJECTS, OBJECTS)
def test_differences_are_symmetric(one: Any, other: Any) -> None:
    there = [(each.field, each.ours, each.theirs) for each in differences(one, other)]
    back = [(each.field, each.theirs, each.ours) for each in differences(other, one)]
    assert sorted(map(repr, there)) == sorted(map(repr, back))
    assert all(field.startswith(".spec") and "[0]" not in field for field, *_ in there)


@given(OBJECTS, VALUES)
def test_equal_specs_have_no_difference(obj: Any, status: Any) -> None:
    assert [*differences(obj, {**obj, "status": status})] == []


@given(VALUES, VALUES)
def test_document_is_patched_by_its_difference(old: Any, new: Any) -> None:
    before, after = {"top": old}, {"top": new}
    assert diff(patched(before, diff(before, after)), after) == []


@rows(
    ("ours", "theirs", "fields"),
    [
        ({"a": [{"name": "x"}]}, {"a": [{"name": "y"}, {"name": "x"}]}, [".spec.a[]"]),
        ({"a": [{"name": "x", "b": 1}]}, {"a": [{"name": "y"}, {"name": "x", "b": 2}]}, [".spec.a[].b", ".spec.a[]"]),
        ({"a": [{"name": "x"}, {"name": "y"}]}, {"a": [{"name": "y"}, {"name": "x"}]}, [".spec.a"]),
        ({"a": ["b", "a"]}, {"a": ["a", "b"]}, [".spec.a"]),
        ({"a": None}, {}, []),
        ({"a-b": {"c/d": 1}}, {"a-b": {"c/d": 2}}, ['.spec["a-b"]["c/d"]']),
    ],
)
def test_difference_names_its_field(ours: Any, theirs: Any, fields: list[str]) -> None:
    assert [each.field for each in differences({"spec": ours}, {"spec": theirs})] == fields


def test_metadata_of_the_api_server_is_not_compared() -> None:
    ours = {"metadata": {"labels": {"a": "1"}, "resourceVersion": "1"}}
    theirs = {"metadata": {"labels": {"a": "2"}, "resourceVersion": "2", "uid": "u"}, "status": {"b": 1}}
    assert [each.field for each in differences(ours, theirs)] == [".metadata.labels.a"]


def test_managed_fields_of_tests_are_those_of_an_api_server() -> None:
    """What a kube-apiserver has kept after a create by Karmada and an update by another program."""
    made: Thing = {
        "metadata": {"annotations": {"work.karmada.io/name": "wl"}, "labels": {"app": "wl"}},
        "spec": {
            "replicas": 2,
            "template": {
                "metadata": {"labels": {"app": "wl"}},
                "spec": {"containers": [{"envFrom": [{}], "image": "nginx", "name": "nginx", "resources": {}}]},
            },
        },
    }
    member = Member({"metadata": {}})
    member.write(made, "karmada-controller-manager", 1_795_141_969.4)
    member.write({**member.live, "spec": {**made["spec"], "paused": True}}, "python-requests", 1_795_141_971)
    fields_of_container: Thing = {".": {}, "f:envFrom": {}, "f:image": {}, "f:name": {}, "f:resources": {}}
    pod = {"f:containers": {".": {}, 'k:{"name":"nginx"}': fields_of_container}}
    fields = {
        "f:metadata": {"f:annotations": {".": {}, "f:work.karmada.io/name": {}}, "f:labels": {".": {}, "f:app": {}}},
        "f:spec": {
            ".": {},
            "f:replicas": {},
            "f:template": {
                ".": {},
                "f:metadata": {".": {}, "f:labels": {".": {}, "f:app": {}}},
                "f:spec": {".": {}, **pod},
            },
        },
    }
    karmada, other = member.live["metadata"]["managedFields"]
    assert (karmada["manager"], karmada["time"]) == ("karmada-controller-manager", "2026-11-20T02:32:49Z")
    assert karmada["fieldsV1"] == fields
    assert (other["manager"], other["fieldsV1"]) == ("python-requests", {"f:spec": {"f:paused": {}}})


def container(thing: Thing) -> Thing:
    found: Thing = thing["spec"]["template"]["spec"]["containers"][0]
    return found


def scale(number: int) -> Change:
    return lambda thing: thing["spec"].update(replicas=number)


def request_memory(thing: Thing) -> None:
    container(thing)["resources"] = {"requests": {"memory": "2Gi"}}


def pin(thing: Thing) -> None:
    container(thing)["image"] = "train@sha256:1"


def drop_priority(thing: Thing) -> None:
    thing["spec"]["template"]["spec"].pop("priorityClassName", None)


def inject(thing: Thing) -> None:
    listed = thing["spec"]["template"]["spec"]["containers"]
    if len(listed) == 1:
        listed.append({"name": "mesh", "image": "mesh:1"})


def add_port(thing: Thing) -> None:
    container(thing)["ports"] = [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 90, "protocol": "TCP"}]


def select_nodes(thing: Thing) -> None:
    thing["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "nvme"}


def defaulted(thing: Thing) -> None:
    """A webhook, which pods often have: it adds, pins an image, and takes a field away."""
    pod = thing["spec"]["template"]["spec"]
    pod.setdefault("terminationGracePeriodSeconds", 45)
    for each in pod["containers"]:
        each.setdefault("imagePullPolicy", "Always")
    thing["spec"].pop("paused", None)


def default_zone(thing: Thing) -> None:
    """A webhook that adds to an element of an atomic list."""
    thing["spec"]["groups"][0].setdefault("zone", "a")


def mutated(thing: Thing) -> None:
    defaulted(thing)
    pin(thing)


MEMORY = ".spec.template.spec.containers[].resources.requests"
FIGHTS: dict[str, tuple[Change, str, str, str]] = {
    "a controller scales": (scale(7), "operator", "", ".spec.replicas"),
    "an autoscaler, whose entry has no time": (scale(7), "kube-controller-manager", "scale", ".spec.replicas"),
    "requests where Karmada has an empty object": (request_memory, "vpa", "", MEMORY),
    "an image": (pin, "argo-rollouts", "", ".spec.template.spec.containers[].image"),
    "a sidecar, which Karmada only removes": (inject, "mesh", "", ".spec.template.spec.containers[]"),
    "a field that Karmada only removes": (select_nodes, "operator", "", ".spec.template.spec.nodeSelector"),
    "a port of a list with two keys": (add_port, "operator", "", ".spec.template.spec.containers[].ports[]"),
    "a label": (lambda thing: thing["metadata"]["labels"].update(app="x"), "operator", "", ".metadata.labels.app"),
    "a field that is removed": (drop_priority, "operator", "", ".spec.template.spec.priorityClassName"),
}


@pytest.mark.parametrize("webhook", [lambda _: None, defaulted, mutated], ids=["plain", "defaulted", "mutated"])
@pytest.mark.parametrize("keys", [TYPED, {}], ids=["typed", "open"])
@rows("fight", FIGHTS)
def test_fight_is_named_by_third_overwrite(fight: str, keys: Keys, webhook: Change) -> None:
    change, manager, subresource, field = FIGHTS[fight]
    if webhook is mutated and change is pin:
        return  # the webhook has the same value, so nobody fights
    made = template()
    container(made)["ports"] = [{"containerPort": 80, "protocol": "TCP"}]
    if not keys and change is add_port:
        field = field.removesuffix("[]")  # without keys the list is one field
    series = Series(made, keys=keys, webhook=webhook)
    for _ in range(2):
        series.other(change, manager, subresource)
        series.karmada()
    assert series.named == []
    series.other(change, manager, subresource)
    series.karmada()
    if not keys and webhook is mutated and change in (request_memory, inject, add_port):
        # An atomic list belongs to who has changed any of it last, also what the webhook overwrites in it.
        field = ".spec.template.spec.containers[].image"
    assert series.named[0] == (field, manager if change is not drop_priority else "")


def once(series: Series, number: int) -> None:
    if number == 3:
        series.other(scale(9), "kubectl-edit")
    series.karmada()


def edits(series: Series, number: int) -> None:
    series.edit(scale(number + 3))
    series.karmada()


def back_and_forth(series: Series, number: int) -> None:
    series.edit(pin if number % 2 else lambda thing: container(thing).update(image="train:1"))
    series.karmada()


def another_field(series: Series, number: int) -> None:
    series.other(lambda thing: thing["spec"].update({f"field{number}": 1}), "kubectl-edit")
    series.karmada()


def another_field_of_a_list(series: Series, number: int) -> None:
    """An atomic list belongs to whoever has changed any of it last."""
    field = "replicas" if number == 3 else "size" if number == 6 else "priority" if number == 9 else ""
    series.other(lambda thing: thing["spec"]["groups"][0].update({field: 9} if field else {}), "kubectl-edit")
    series.karmada()


def label(series: Series, number: int) -> None:
    series.other(lambda thing: thing["metadata"]["labels"].update(number=str(number)))


def fails(change: Change) -> Step:
    def step(series: Series, number: int) -> None:
        series.other(change if number == 0 else lambda _: None)
        label(series, number)
        series.karmada(lands=False)

    return step


def labels_and_edits(series: Series, number: int) -> None:
    if number % 2:
        series.edit(scale(number + 3))
    else:
        label(series, number)
    series.karmada()


def label_only(series: Series, number: int) -> None:
    label(series, number)
    series.karmada()


def hourly(series: Series, _: int) -> None:
    series.now += 1801
    series.other(scale(7), "kubectl-scale", "scale")
    series.karmada()


def under_another_name(series: Series, number: int) -> None:
    series.edit(scale(number + 3))
    series.karmada(manager="karmada-agent")


def pruned(**options: Any) -> Callable[[], Series]:
    return lambda: Series(template(unknown=1), pruned="unknown", **options)


def mutating(**options: Any) -> Callable[[], Series]:
    return lambda: Series(template(paused=True), webhook=mutated, **options)


def plain(**options: Any) -> Callable[[], Series]:
    return lambda: Series(template(), **options)


LEGITIMATE: dict[str, tuple[Callable[[], Series], Step]] = {
    "a human edits once": (plain(), once),
    "the template is scaled": (plain(), edits),
    "the template goes back and forth": (plain(), back_and_forth),
    "another field each time": (plain(), another_field),
    "another field of an atomic list each time": (
        lambda: Series(template(groups=[{"replicas": 2, "size": 2, "priority": 2}])),
        another_field_of_a_list,
    ),
    "an update fails": (plain(), fails(scale(9))),
    "an update that only removes a field fails": (plain(), fails(select_nodes)),
    "a webhook changes what is edited": (mutating(), edits),
    "a webhook in an open schema": (mutating(keys={}), edits),
    "a webhook and one edit by a human": (mutating(), once),
    "a field that the member does not know": (pruned(), edits),
    "the same next to labels of others": (pruned(), labels_and_edits),
    "the same for several replicas": (pruned(replicas=2), labels_and_edits),
    "the same next to a webhook": (
        lambda: Series(template(unknown=1, paused=True), pruned="unknown", webhook=mutated),
        label_only,
    ),
    "a scale every hour": (plain(), hourly),
    "another binary of Karmada": (plain(), under_another_name),
    "several replicas": (plain(replicas=3), once),
}


@rows("name", LEGITIMATE)
def test_legitimate_series_is_not_a_fight(name: str) -> None:
    make, step = LEGITIMATE[name]
    series = make()
    for number in range(12):
        step(series, number)
    assert series.named == []


CHANGES = st.sampled_from([scale(5), scale(7), request_memory, pin, drop_priority, inject, add_port, select_nodes])
WEBHOOKS = st.sampled_from([lambda _: None, defaulted, mutated])


@given(st.lists(CHANGES, max_size=12), st.sampled_from([TYPED, {}]), WEBHOOKS, st.sampled_from(["", "unknown"]))
def test_edits_of_the_template_are_no_fight(edited: list[Change], keys: Keys, webhook: Change, pruned: str) -> None:
    series = Series(template(unknown=1), keys=keys, webhook=webhook, pruned=pruned)
    for number, change in enumerate(edited):
        series.edit(change)
        label(series, number)
        series.karmada(lands=number % 4 != 3)
    assert series.named == []


@given(st.permutations([scale(5), request_memory, pin, drop_priority, inject, add_port, select_nodes] * 2), WEBHOOKS)
def test_change_made_twice_is_not_a_fight(changes: list[Change], webhook: Change) -> None:
    series = Series(template(), webhook=webhook)
    for change in changes:
        series.other(change)
        series.karmada()
    assert series.named == []


def test_change_without_landed_update_is_not_a_round() -> None:
    """An update that lands and the change that undoes it are two changes of the generation."""
    series = Series(template())
    for number in range(3):
        series.other(lambda thing, number=number: thing["spec"].update(minReadySeconds=number + 1))  # type: ignore[misc]
        series.karmada(lands=False)
    assert series.named == []


def test_fields_that_karmada_writes_are_named_first() -> None:
    def write(thing: Thing) -> None:
        select_nodes(thing)
        thing["spec"]["zone"] = "b"

    series = Series(template(zone="a"))
    for _ in range(3):
        series.other(write)
        series.karmada()
    assert [field for field, _ in series.named] == [".spec.zone", ".spec.template.spec.nodeSelector"]


@rows("replicas", [1, 2, 3])
def test_replica_names_fight_by_its_own_calls(replicas: int) -> None:
    series = Series(template(), replicas=replicas)
    for _ in range(3 * replicas):
        series.other(scale(7))
        series.karmada()
    assert series.named == [(".spec.replicas", "operator")] * replicas


def test_restart_costs_three_rounds() -> None:
    series = Series(template())
    for number in range(5):
        if number == 2:
            series.rounds = [b""]
        series.other(scale(7))
        series.karmada()
    assert len(series.named) == 1


@pytest.mark.parametrize(("seconds", "named"), [(890.0, 1), (910.0, 0)], ids=["within an hour", "in more than an hour"])
def test_three_rounds_are_a_fight_within_an_hour(seconds: float, named: int) -> None:
    series = Series(template(), seconds=seconds)
    for _ in range(3):
        series.other(scale(7))
        series.karmada()
    assert len(series.named) == named


def test_rounds_older_than_an_hour_are_forgotten() -> None:
    series = Series(template())
    series.other(scale(7))
    series.karmada()
    assert series.rounds != [b""]
    series.other(drop_priority)
    series.now += 3600
    series.karmada()
    of_the_second, series.rounds = series.rounds, [b""]
    series.other(drop_priority)
    series.karmada()
    assert len(of_the_second[0]) == len(series.rounds[0]), "a server that has not seen the first remembers as much"


def test_fights_in_one_object_are_all_found() -> None:
    series = Series(template())
    for number in range(6):
        series.other(*((scale(7), "hpa") if number % 2 else (pin, "rollouts")))
        series.karmada()
    assert series.named == [(".spec.template.spec.containers[].image", "rollouts"), (".spec.replicas", "hpa")]


@pytest.mark.parametrize("webhook", [lambda _: None, default_zone], ids=["plain", "beside a default"])
@pytest.mark.parametrize(("field", "is_named"), [("replicas", True), ("size", True), ("zone", False)])
def test_later_fight_within_an_atomic_list_is_named_if_the_template_sets_it(
    field: str, webhook: Change, *, is_named: bool
) -> None:
    """What Karmada only removes may be a default of a webhook, which the owner of the list owns, too."""

    def write(*names: str) -> Change:
        return lambda thing: thing["spec"]["groups"][0].update(dict.fromkeys(names, 7))

    series = Series(template(groups=[{"replicas": 2, "size": 2, "priority": 2}]), webhook=webhook)
    for _ in range(3):
        series.other(write("priority"))
        series.karmada()
    assert series.named == [(".spec.groups[].priority", "operator")]
    for _ in range(2):
        series.other(write("priority", field))
        series.karmada()
    assert (f".spec.groups[].{field}", "operator") not in series.named
    series.other(write("priority", field))
    series.karmada()
    assert ((f".spec.groups[].{field}", "operator") in series.named) is is_named


def test_fight_behind_other_differences_is_found() -> None:
    series = Series(template(**{f"field{number}": 1 for number in range(100)}))
    for _ in range(3):
        series.other(lambda thing: thing["spec"].update({f"field{number}": 2 for number in range(100)}))
        series.other(lambda thing: thing["spec"].update(replicas=7), "last")
        series.karmada()
    assert len(series.named) == MOST_FIELDS
    assert sys.getsizeof(series.rounds[0]) <= 200


def test_object_without_other_writers_takes_no_memory() -> None:
    series = Series(template(), webhook=mutated)
    for _ in range(3):
        series.karmada()
    assert series.rounds == [b""]


@rows(
    "entries",
    [
        pytest.param(None, id="no managed fields"),
        pytest.param([], id="none of them"),
        pytest.param([{"manager": "a", "time": "2026-11-20T02:32:49Z", "fieldsV1": {}}], id="none of Karmada's"),
        pytest.param([{"manager": "a", "fieldsV1": {}}] * 65, id="more than an API server keeps"),
        pytest.param(
            [{"manager": KARMADA, "fieldsV1": {"f:metadata": {"f:annotations": {"f:work.karmada.io/name": {}}}}}],
            id="no time",
        ),
    ],
)
def test_compared_is_none_without_fields_of_karmada(entries: Any) -> None:
    observed = template(replicas=7)
    observed["metadata"]["managedFields"] = entries
    assert compared(template(), observed) is None


def test_element_of_set_is_its_own_field() -> None:
    series = Series(template(finalizers=["a", "b"]))
    for _ in range(3):
        series.other(lambda thing: thing["spec"].update(finalizers=["b", "a", "c"]))
        series.karmada()
    assert series.named == [(".spec.finalizers[]", "operator")]


def test_removed_part_of_filled_object_has_no_writer() -> None:
    # As a real API server has it: when Karmada's only annotation is gone, its entry is that of an atomic object.
    ours, observed = template(), template()
    ours["spec"]["template"]["metadata"] = {"annotations": {"owner": "a"}}
    observed["spec"]["template"]["metadata"] = {"annotations": {"team": "b"}}
    owned: Thing = {"f:annotations": {"f:work.karmada.io/name": {}}}
    fields: Thing = {"f:metadata": owned, "f:spec": {"f:template": {"f:metadata": {"f:annotations": {}}}}}
    entry: Thing = {"manager": KARMADA, "time": "2026-11-20T02:32:49Z", "fieldsV1": fields}
    observed["metadata"]["managedFields"] = [entry]
    comparison = compared(ours, observed)
    assert comparison
    (lost,) = (each for each in comparison.differences if each.field.endswith(".owner"))
    assert lost.writer is None


def test_rounds_of_more_fields_than_are_remembered_are_those_that_come_again() -> None:
    series = Series(template())
    for number in range(4):
        series.other(noise(number), "noise")
        series.other(scale(7))
        series.karmada()
    assert {*series.named} == {(".spec.replicas", "operator")}


def noise(number: int) -> Change:
    return lambda thing: thing["spec"].update({f"field{number}{each}": 1 for each in range(9)})


@rows(
    ("ours", "theirs", "fields"),
    [
        pytest.param({"requests": {"cpu": 1}}, {"requests": {"cpu": "1"}}, [], id="a number is written as a text"),
        pytest.param({"limits": {"a/b": "1000m"}}, {"limits": {"a/b": "1"}}, [], id="the shortest form"),
        pytest.param({}, {"metadata": {}, "volumes": [], "cpu": None}, [], id="nothing, written by a typed client"),
        pytest.param({}, {"name": "", "outputs": {"result": ""}}, [], id="a struct that nobody has set"),
        pytest.param({"steps": [{"image": "i"}]}, {"steps": [{"name": "", "image": "i"}]}, [],
            id="an element without its name"),
        pytest.param({"steps": [[{"name": "a"}], [{"name": "b"}]]},
            {"steps": [[{"name": "a", "arguments": {}}], [{"name": "b", "arguments": {}}]]}, [], id="a list of lists"),
        pytest.param({"steps": [[{"name": "a"}]]}, {"steps": [[{"name": "a", "when": "x"}]]}, [".spec.steps[][].when"],
            id="a value in a list of lists"),
        pytest.param({"steps": [[{"name": "a"}]]}, {"steps": [[{"name": "a"}], [{"name": "b"}]]}, [".spec.steps"],
            id="another number of lists"),
        pytest.param({"args": ["a"]}, {"args": ["b"]}, [".spec.args"], id="a list of texts"),
        pytest.param({}, {"args": [""]}, [".spec.args"], id="an element that is empty"),
        pytest.param({"class": "a"}, {"class": ""}, [".spec.class"], id="a text that somebody has emptied"),
        pytest.param({}, {"replicas": 0}, [".spec.replicas"], id="a count of 0"),
        pytest.param({}, {"paused": False}, [".spec.paused"], id="a value"),
        pytest.param({"requests": {"cpu": 1}}, {"requests": {"cpu": "2"}}, [".spec.requests.cpu"], id="another amount"),
        pytest.param({"requests": {"cpu": {}}}, {"requests": {"cpu": "x"}}, [".spec.requests.cpu"], id="no amounts"),
        pytest.param({"version": "1.20"}, {"version": "1.2"}, [".spec.version"], id="other fields are texts"),
    ],
)  # fmt: skip
def test_value_in_form_of_typed_client_is_not_a_difference(ours: Thing, theirs: Thing, fields: list[str]) -> None:
    assert [change.field for change in differences({"spec": ours}, {"spec": theirs})] == fields
