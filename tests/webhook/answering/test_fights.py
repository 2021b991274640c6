"""Fights between Karmada and somebody in a member, as a server finds them, and the lines that end them."""

import copy
import math
import sys
import tracemalloc
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta import catalogue_kinds
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.fights.rounds import MOST_FIELDS
from karta_interpreter.engine.operations import Options
from karta_interpreter.languages.lua.script import Script, Scripts
from karta_interpreter.webhook.answering import fights as room, lanes
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.answering.fights import Fights
from karta_interpreter.webhook.answering.load import Load
from karta_interpreter.webhook.answering.pending_call import Answer, PendingCall
from karta_interpreter.webhook.wire import decode
from tests.support.examples import SWEEPS_ALL
from tests.support.rows import rows
from tests.support.waiting import HANG
from tests.webhook.answering.members import KARMADA, Member, Thing, Write, go, question
from tests.webhook.answering.writes import KINDS, WRITES, pods, template
from tests.webhook.logs import capture_logs
from tests.webhook.process.process import KARTAS

ROUNDS = 8


@pytest.fixture(scope="module")
def store() -> Store:
    files = [path for gvk, path in catalogue_kinds().items() if gvk.kind in KINDS]
    made = Store(files, catalogue=False)
    made.load()
    return made


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Load, "spend", lambda *_: None)
    # In this process, even if a dozen more lines make a definition expensive.
    monkeypatch.setattr(lanes, "_MOST_STEPS", 10**9)


def fought(store: Store, kind: str, write: Write, made: Thing | None = None) -> Member:
    member = Member(store, made or template(kind))
    for number in range(4):
        member.round(lambda thing, number: write(pods(kind, thing), number), number)
    return member


@pytest.mark.sweep
@pytest.mark.parametrize("kind", [*KINDS][:: 1 if SWEEPS_ALL else 3])
def test_fights_are_named_by_their_field_and_ended_by_their_lines(store: Store, kind: str, tmp_path: Path) -> None:
    fields, lines = {}, {}
    for name, (write, _) in WRITES.items():
        found = fought(store, kind, write).fights
        fields[name] = [(fight.field, fight.manager, fight.cluster) for fight in found]
        lines[name] = [fight.retain for fight in found]
    # Without keys replicatedJobs is atomic: who takes anything out of it has written all of it.
    unknown: set[str] = set() if kind == "JobSet" else {"a dropped field"}
    assert fields == {
        name: [(KINDS[kind][1] + field, "unknown" if name in unknown else "operator", "member1")]
        for name, (_, field) in WRITES.items()
    }
    ended = _with_lines(kind, [line for found in lines.values() for line in found], tmp_path)
    assert [name for name, (write, _) in WRITES.items() if fought(ended, kind, write).fights] == []


def _with_lines(kind: str, lines: list[str], folder: Path) -> Store:
    """Definitions as after an author has added lines to the annotation."""
    (path,) = {path for gvk, path in catalogue_kinds().items() if gvk.kind == kind}  # versions share one
    karta = yaml.safe_load(path.read_text())
    annotations = karta["metadata"]["annotations"]
    before = annotations.get("karta-interpreter.io/retain", "")
    annotations["karta-interpreter.io/retain"] = before + "".join(f"{line}\n" for line in lines)
    file = folder / "karta.yaml"
    file.write_text(yaml.safe_dump(karta))
    made = Store([file], catalogue=False)
    assert not made.load().quarantined
    return made


def scaled(replicas: Callable[[int], int]) -> Write:
    return lambda thing, number: thing["spec"].update(replicas=replicas(number))


def nothing(_: Thing, __: int) -> None:
    pass


def ray_scales(thing: Thing, number: int) -> None:
    thing["spec"]["workerGroupSpecs"][0]["replicas"] = number % 5 + 3


def suspend(thing: Thing, _: int) -> None:
    thing["spec"]["suspend"] = True


@pytest.mark.parametrize(
    ("kind", "write", "field", "line"),
    [
        ("Deployment", scaled(lambda _: 9), ".spec.replicas", "- .spec.replicas"),
        ("RayCluster", ray_scales, ".spec.workerGroupSpecs[].replicas", "- .spec.workerGroupSpecs[].replicas"),
        ("JobSet", suspend, ".spec.suspend", "- .spec.suspend"),
    ],
    ids=["replicas", "replicas of a group", "a switch"],
)
def test_line_of_retain_ends_fight_about_count_or_switch(
    store: Store, kind: str, write: Write, field: str, line: str, tmp_path: Path
) -> None:
    made = template(kind, **({"suspend": False} if write is suspend else {}))
    member = Member(store, made)
    for number in range(3):
        member.round(write, number)
    (fight,) = member.fights
    assert (fight.field, fight.retain) == (field, line)
    ended = Member(_with_lines(kind, [line], tmp_path), made)
    for number in range(4):
        ended.round(write, number)
    assert ended.fights == []


def edit(replicas: Callable[[int], int]) -> Callable[[Member, int], None]:
    return lambda member, number: member.template["spec"].update(replicas=replicas(number))


def no_edit(_: Member, __: int) -> None:
    pass


RETAINED = template("Deployment")
RETAINED["metadata"]["labels"]["resourcetemplate.karmada.io/retain-replicas"] = "true"
UNSET = template("Deployment")
del UNSET["spec"]["replicas"]
RAY = template("RayCluster", enableInTreeAutoscaling=True)


def once(thing: Thing, number: int) -> None:
    if number == 3:
        thing["spec"]["replicas"] = 9


def another(thing: Thing, number: int) -> None:
    thing["spec"][f"field{number}"] = 1


def status(thing: Thing, number: int) -> None:
    thing["metadata"]["annotations"]["seen"] = str(number)


LEGITIMATE: dict[str, tuple[Thing, Write, Callable[[Member, int], None], bool]] = {
    "nothing happens": (template("Deployment"), nothing, no_edit, True),
    "the template is scaled": (template("Deployment"), nothing, edit(lambda number: number), True),
    "the template goes back and forth": (template("Deployment"), nothing, edit(lambda number: number % 2), True),
    "an autoscaler has its label": (RETAINED, scaled(lambda number: number % 4), no_edit, True),
    "an autoscaler has its label while the template is scaled": (
        RETAINED,
        scaled(lambda _: 4),
        edit(lambda n: n),
        True,
    ),
    "an autoscaler of an unset count": (UNSET, scaled(lambda number: number % 4), no_edit, True),
    "the Ray autoscaler": (RAY, ray_scales, no_edit, True),
    "one edit in the member": (template("Deployment"), once, no_edit, True),
    "another field each time": (template("Deployment"), another, no_edit, True),
    "updates fail": (template("Deployment"), once, no_edit, False),
    "updates fail while others write": (template("Deployment"), status, edit(lambda number: number), False),
}


@pytest.mark.parametrize("series", LEGITIMATE)
def test_legitimate_series_is_not_a_fight(store: Store, series: str) -> None:
    made, write, edited, lands = LEGITIMATE[series]
    member = Member(store, copy.deepcopy(made))
    for number in range(ROUNDS):
        edited(member, number)
        member.round(write, number, lands=lands)
    assert member.asked == ROUNDS
    assert member.fights == []


def test_fight_is_logged_once_without_secrets(store: Store) -> None:
    write, field = WRITES["a secret"]
    with capture_logs() as said:
        fought(store, "Notebook", write)
    (line,) = (each for each in said if each["log_level"] == "warning")
    assert (line["kind"], line["cluster"], line["object"], line["manager"], line["field"]) == (
        "kubeflow.org/v1/Notebook",
        "member1",
        "ml/train",
        "operator",
        f".spec.template{field}",
    )
    assert (line["karmada"], line["member"]) == ("a text of 6 characters", "a text of 12 characters")
    assert line["begin"] == "2023-11-14T22:13:25+00:00"
    assert line["retain"].startswith("- .spec.template")
    assert "s3cr3t" not in str(line)


def select_nodes(thing: Thing, _: int) -> None:
    pods("Deployment", thing)["spec"].update(priorityClassName="high", nodeSelector={"a": "b"})


def test_every_fight_of_an_object_is_named_with_a_line_and_other_fields(store: Store) -> None:
    member = Member(store, template("Deployment"))
    for number in range(3):
        member.round(select_nodes, number)
    path = KINDS["Deployment"][1]
    one, other = f"{path}.spec.priorityClassName", f"{path}.spec.nodeSelector"
    assert [(fight.field, [*fight.others]) for fight in member.fights] == [(one, [other]), (other, [one])]
    assert [fight.retain for fight in member.fights] == [f"- {one}", f"- unset: {other}"]


def both(thing: Thing, number: int) -> None:
    scaled(lambda _: 9)(thing, number)
    select_nodes(thing, number)


def test_second_fight_of_an_object_is_named_while_the_first_lasts(store: Store) -> None:
    member = Member(store, template("Deployment"))
    for number in range(3):
        member.round(scaled(lambda _: 9), number)
    for number in range(24):  # of ten seconds each: an object with a fight is looked at once a minute
        member.round(both, number)
    path = KINDS["Deployment"][1]
    fields = [fight.field for fight in member.fights]
    assert sorted(fields) == [".spec.replicas", f"{path}.spec.nodeSelector", f"{path}.spec.priorityClassName"]


def test_fight_of_seconds_ends_after_ten_minutes(store: Store) -> None:
    member = fought(store, "Deployment", WRITES["a pinned image"][0])
    (fight,) = member.fights
    member.now = fight.last + 599
    assert len(member.fights) == 1
    member.now += 2
    assert member.fights == []
    assert not member.found.present, "the uids of fights that are over do not stay"


def test_fight_of_minutes_lasts_as_long_as_its_rounds(store: Store) -> None:
    member = Member(store, template("Deployment"), seconds=800)
    for number in range(3):
        member.round(scaled(lambda _: 7), number)
    member.now = member.fights[0].last + 3100
    assert len(member.fights) == 1


def test_failure_to_look_for_fights_keeps_the_answer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "compared", lambda *_: 1 / 0)
    member = Member(store, template("Deployment"))
    with capture_logs() as said:
        member.round(scaled(lambda _: 7), 0)
    assert member.asked == 1
    assert [each["event"] for each in said if each["log_level"] == "error"] == [
        "an observer of calls failed unexpectedly"
    ]


def test_look_for_fights_does_not_count_as_slow_call(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    spent = [0.0]
    member = Member(store, template("Deployment"), clock=lambda: spent[0])
    monkeypatch.setattr(member.found, "_look", lambda *_: spent.append(spent.pop() + 1))
    with capture_logs() as said:
        for number in range(3):
            member.round(nothing, number)
    assert (spent, said) == ([3.0], [])


SCRIPT = """
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: retain}
spec:
  target: {apiVersion: mill.example.org/v1, kind: GrainMill}
  customizations: {retention: {luaScript: "function Retain(desired, observed) return desired end"}}
"""


@pytest.mark.parametrize(
    ("kind", "overrides", "line"),
    [
        pytest.param("GrainMill", "", "- .spec.stones", id="inline"),
        pytest.param("GrainMill", SCRIPT, "", id="script"),
        pytest.param("Treadmill", "", "- .spec.stones", id="child"),
    ],
)
async def test_fight_is_seen_in_every_lane(kind: str, overrides: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "retain.yaml").write_text(overrides)
    made = Store([KARTAS], catalogue=False, overrides=[tmp_path])
    made.load()
    clock = [0.0]
    found = Fights(lambda: clock[0], lambda: clock[0])
    calls = Calls(made, Options(), rehearses=False)
    calls.observers = (found.see,)
    annotations = {"work.karmada.io/name": "w", "work.karmada.io/namespace": "karmada-es-member1"}
    own: Thing = {"name": "a", "namespace": "b", "annotations": annotations}
    desired: Thing = {"apiVersion": "mill.example.org/v1", "kind": kind, "metadata": own}
    for number in range(3):
        clock[0] += 5
        metadata = own | {"resourceVersion": str(number), "uid": "u", "managedFields": entries(number)}
        observed = desired | {"metadata": metadata, "spec": {"stones": 7}}
        answer = await calls.answer(question(desired | {"spec": {"stones": 3}}, observed), HANG)
        assert b'"successful":true' in answer
    calls.close()
    (fight,) = found.current()
    assert (fight.field, fight.ours, fight.theirs) == (".spec.stones", "3", "7")
    (metric,) = found.collect()
    labels = {
        "kind": f"mill.example.org/v1/{kind}",
        "field": ".spec.stones",
        "cluster": "member1",
        "manager": "miller",
        "retain": fight.retain,
    }
    assert [(sample.labels, sample.value) for sample in metric.samples] == [(labels, 1)]
    assert fight.retain == line


def entries(number: int) -> list[Thing]:
    """The managed fields after a number of rounds, in which somebody else has scaled last."""
    fields: Thing = {"f:metadata": {"f:annotations": {"f:work.karmada.io/name": {}}}}
    time = f"2026-11-20T02:12:{number:02}Z"
    other = {"manager": "miller", "subresource": "scale", "fieldsV1": {"f:spec": {"f:stones": {}}}}
    return [{"manager": KARMADA, "time": time, "fieldsV1": fields}, other]


def see(found: Fights, body: bytes, answer: bytes) -> None:
    request = decode(question(template("Deployment"), template("Deployment")))
    definition = Definition.of_scripts(GVK("apps", "v1", "Deployment"), Scripts([Script("Retain", "", "mine")]))
    call = PendingCall(0.0, body, request, definition)
    found.see(call, Answer(answer, 200, "", 0.0, is_inline=False))


def asked(found: Fights, uid: str, number: int) -> None:
    observed = template("Deployment", replicas=9)
    observed["metadata"] |= {"resourceVersion": "1", "uid": uid, "managedFields": entries(number)}
    body = question(template("Deployment"), observed).replace(b"f:stones", b"f:replicas")
    see(found, body, b'{"response":{}}')


def test_remembered_objects_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_OBJECTS", 50)
    found = Fights(lambda: 0.0, lambda: 1e9, lambda: 0.0)
    for uid in range(100):
        asked(found, f"u{uid}", 0)
    for number in (1, 2):
        asked(found, "u49", number)  # was forgotten
        asked(found, "u99", number)
    assert [*found.present] == [b"u99"]


def test_object_without_calls_for_longest_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_OBJECTS", 2)
    found = Fights(lambda: 0.0, lambda: 1e9, lambda: 0.0)
    for uid, number in [("busy", 0), ("other", 0), ("busy", 1), ("third", 0), ("busy", 2)]:
        asked(found, uid, number)
    assert [*found.present] == [b"busy"]


def test_fighting_object_takes_400_bytes() -> None:
    uid, rounds = b"2eb61350-41d5-4af8-a0ad-dfb4a60ced05", bytes(28 * MOST_FIELDS)
    tracemalloc.start()
    remembered = OrderedDict((b"%d" % number + uid[5:], rounds[:]) for number in range(10_000, 50_000))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size / len(remembered) + sys.getsizeof(rounds) <= 400


def test_share_is_saved_up_for_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now, spent, seen = [1000.0], [0.0], []

    def look(*about: object) -> None:
        spent[0] += 0.02
        seen.append(about)

    monkeypatch.setattr(Fights, "_look", look)
    found = Fights(lambda: now[0], lambda: 0.0, lambda: spent[0])
    for _ in range(20):
        asked(found, "u", 0)
    assert len(seen) == 6, "a hundredth of ten seconds, and the look that it ends with"


def test_notes_take_a_hundredth_of_a_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = [0.0]

    def clock() -> float:
        ticks[0] += 1.0  # each look at the clock is a second later
        return ticks[0]

    seen: list[object] = []
    monkeypatch.setattr(Fights, "_look", lambda *about: seen.append(about))
    found = Fights(clock, lambda: 0.0, clock)
    for _ in range(500):
        asked(found, "u", 0)
    assert 4 <= len(seen) <= 6


def test_known_fight_is_looked_at_once_a_minute(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    member, seen = fought(store, "Deployment", WRITES["a pinned image"][0]), []
    monkeypatch.setattr(Fights, "_look", lambda *about: seen.append(about))
    for number in range(24):  # of ten seconds each
        member.round(nothing, number)
    assert len(seen) in {19, 20}


def test_look_that_takes_long_is_interrupted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    member = Member(store, template("Deployment"))
    monkeypatch.setattr(room, "compared", lambda *_: [None for _ in iter(int, 1)])
    with member.calls.interruption.running():
        member.round(nothing, 0)
    assert (member.asked, member.fights, member.calls.interruption.at) == (1, [], math.inf)


def test_large_body_is_not_looked_at(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "is_large_body", lambda _: True)
    assert fought(store, "Deployment", WRITES["a pinned image"][0]).fights == []


@rows("body", [b"", b'"observedObject":{"resourceVersion":"1","uid":"u"', b"[" * 2000, go({"request": {}})])
def test_calls_of_others_than_karmada_are_ignored(body: bytes) -> None:
    found = Fights(lambda: 0.0, lambda: 0.0, lambda: 0.0)
    for _ in range(3):
        see(found, body, b"")
    assert found.current() == []
