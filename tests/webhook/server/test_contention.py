"""Fights between Karmada and controllers of a member, and what looks like one and is not."""

import copy
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import yaml

from karta_interpreter.definitions.karta.loading import catalogue_kinds
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Options
from karta_interpreter.webhook.server import contention as room
from karta_interpreter.webhook.server import lanes
from karta_interpreter.webhook.server.calls import Calls
from karta_interpreter.webhook.server.contention import Contention
from karta_interpreter.webhook.server.load import Load
from karta_interpreter.webhook.wire import decode
from tests.support.waiting import HANG
from tests.webhook.server.habits import HABITS, KINDS, pods, template
from tests.webhook.server.logs import capture_logs
from tests.webhook.server.members import Habit, Member, Thing, question
from tests.webhook.server.process import KARTAS

TURNS = 8


@pytest.fixture(scope="module")
def store() -> Store:
    files = [path for gvk, path in catalogue_kinds().items() if gvk.kind in KINDS]
    made = Store(files, catalogue=False)
    made.load()
    return made


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Load, "spend", lambda *_: None)
    # In this process also where a dozen more lines make a definition dear.
    monkeypatch.setattr(lanes, "_MOST_STEPS", 10**9)


UNENDED: set[str] = set()
"""Fights that no line ends."""


def fought(store: Store, kind: str, habit: Habit, made: Thing | None = None) -> Member:
    member = Member(store, made or template(kind))
    for number in range(6):
        member.turn(lambda thing, turn: habit(pods(kind, thing), turn), number)
    return member


@pytest.mark.parametrize("kind", KINDS)
def test_fights_are_named_by_their_field_and_ended_by_the_suggested_lines(
    store: Store, kind: str, tmp_path: Path
) -> None:
    fields, lines = {}, {}
    for name, (habit, _) in HABITS.items():
        found = fought(store, kind, habit).fights
        fields[name], lines[name] = [fight.field for fight in found], "".join(fight.retain for fight in found)
    assert fields == {name: [KINDS[kind][1] + field] for name, (_, field) in HABITS.items()}
    ended = _with_lines(kind, [line for line in lines.values() if line], tmp_path)
    left = {name: lines[name] for name, (habit, _) in HABITS.items() if fought(ended, kind, habit).fights}
    assert left.keys() <= UNENDED


def _with_lines(kind: str, lines: list[str], folder: Path) -> Store:
    """Definitions as after an author has added lines to the annotation."""
    (path,) = (path for gvk, path in catalogue_kinds().items() if gvk.kind == kind)
    karta = yaml.safe_load(path.read_text())
    annotations = karta["metadata"]["annotations"]
    before = annotations.get("karta-interpreter.io/retain", "")
    annotations["karta-interpreter.io/retain"] = before + "".join(f"{line}\n" for line in lines)
    file = folder / "karta.yaml"
    file.write_text(yaml.safe_dump(karta))
    made = Store([file], catalogue=False)
    assert not made.load().quarantined
    return made


def no_differences(compared: list[str], _: Thing, live: Thing) -> list[object]:
    compared.append(live["metadata"]["uid"])
    return []


def no_habit(_: Thing, __: int) -> None:
    pass


def scaled(replicas: Callable[[int], int]) -> Habit:
    return lambda thing, turn: thing["spec"].update(replicas=replicas(turn))


def hurry(thing: Thing, turn: int) -> None:
    thing["status"] = {"turn": turn}
    thing["metadata"]["resourceVersion"] = str(int(thing["metadata"]["resourceVersion"]) + 1)


def edit(replicas: Callable[[int], int]) -> Callable[[Member, int], None]:
    return lambda member, turn: member.template["spec"].update(replicas=replicas(turn))


def nothing(_: Member, __: int) -> None:
    pass


RETAINED = template("Deployment")
RETAINED["metadata"]["labels"]["resourcetemplate.karmada.io/retain-replicas"] = "true"
UNSET = template("Deployment")
del UNSET["spec"]["replicas"]
RAY = template("RayCluster", enableInTreeAutoscaling=True)


def ray_scales(thing: Thing, turn: int) -> None:
    thing["spec"]["workerGroupSpecs"][0]["replicas"] = turn % 5


def once(thing: Thing, turn: int) -> None:
    if turn == 3:
        thing["spec"]["replicas"] = 9


def thrice(thing: Thing, turn: int) -> None:
    if turn in (1, 3, 5):
        thing["spec"]["replicas"] = 9


def unlike(thing: Thing, turn: int) -> None:
    thing["spec"][f"field{turn}"] = 1


def approaching(thing: Thing, turn: int) -> None:
    thing["spec"]["replicas"] = 40 - turn


LEGITIMATE: dict[str, tuple[Thing, Habit, Callable[[Member, int], None], bool]] = {
    "nothing happens": (template("Deployment"), no_habit, nothing, True),
    "the template is scaled": (template("Deployment"), no_habit, edit(lambda turn: turn), True),
    "the template goes back and forth": (template("Deployment"), no_habit, edit(lambda turn: turn % 2), True),
    "template and member are edited": (template("Deployment"), scaled(lambda _: 1), edit(lambda turn: turn + 2), True),
    "an autoscaler has its label": (RETAINED, scaled(lambda turn: turn % 4), nothing, True),
    "an autoscaler of an unset count": (UNSET, scaled(lambda turn: turn % 4), nothing, True),
    "the Ray autoscaler": (RAY, ray_scales, nothing, True),
    "one edit in the member": (template("Deployment"), once, nothing, True),
    "three edits in the member": (template("Deployment"), thrice, nothing, True),
    "another field each time": (template("Deployment"), unlike, nothing, True),
    "the member is scaled in steps": (template("Deployment"), approaching, nothing, True),
    "updates fail": (template("Deployment"), once, nothing, False),
    "updates fail while the status changes": (
        template("Deployment", replicas=5),
        hurry,
        edit(lambda turn: 5 if turn < 2 else 6),
        False,
    ),
}


@pytest.mark.parametrize("series", LEGITIMATE)
def test_a_legitimate_series_is_not_a_fight(store: Store, series: str) -> None:
    made, habit, edited, lands = LEGITIMATE[series]
    member = Member(store, copy.deepcopy(made))
    for number in range(TURNS):
        edited(member, number)
        member.turn(habit, number, lands=lands)
    assert member.asked == TURNS
    assert member.fights == []


def test_edits_are_not_a_fight_where_only_every_other_one_is_looked_at(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "_PAUSE", 9.0)  # a turn takes 5 seconds
    made, habit, edited, _ = LEGITIMATE["the template goes back and forth"]
    member = Member(store, copy.deepcopy(made))
    for number in range(4 * TURNS):
        edited(member, number)
        member.turn(habit, number)
    assert member.fights == []


def test_a_fight_is_logged_once_without_secrets(store: Store) -> None:
    habit, field = HABITS["a secret"]
    with capture_logs() as said:
        fought(store, "Notebook", habit)
    (line,) = (each for each in said if each["log_level"] == "warning")
    assert (line["kind"], line["object"], line["field"]) == (
        "kubeflow.org/v1/Notebook",
        "ml/train",
        f".spec.template{field}",
    )
    assert (line["karmada"], line["member"]) == ("a text of 6 characters", "a text of 12 characters")
    assert line["begin"] == "2023-11-14T22:13:30+00:00"
    assert line["per_minute"] == 12.0
    assert "s3cr3t" not in str(line)


def test_a_fight_is_over_ten_minutes_after_its_last_turn(store: Store) -> None:
    member = fought(store, "Deployment", HABITS["a pinned image"][0])
    assert len(member.fights) == 1
    member.now += 601
    assert member.fights == []


def test_a_failure_to_look_for_fights_does_not_cost_an_answer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "differences", lambda *_: 1 / 0)
    member = Member(store, template("Deployment"))
    with capture_logs() as said:
        for number in range(2):
            member.turn(scaled(lambda turn: turn), number)
    assert member.asked == 2
    assert [each["event"] for each in said if each["log_level"] == "error"] == [
        "an observer of calls failed unexpectedly"
    ]


def test_a_look_for_fights_does_not_make_a_call_slow(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    member, spent = Member(store, template("Deployment")), [0.0]
    for clock in ("_clock", "_processor_time"):
        monkeypatch.setattr(member.calls, clock, lambda: spent[0])
    monkeypatch.setattr(member.contention, "note", lambda *_: spent.append(spent.pop() + 1))
    with capture_logs() as said:
        for number in range(3):
            member.turn(no_habit, number)
    assert (spent, said) == ([3.0], [])


def test_a_version_that_was_asked_about_is_not_compared_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []
    monkeypatch.setattr(room, "differences", partial(no_differences, compared))
    member = Member(store, template("Deployment"))
    for _ in range(3):
        member.turn(no_habit, 0)
    assert (member.asked, compared) == (3, [])
    member.turn(scaled(lambda _: 7), 0)
    assert len(compared) == 1


SCRIPT = """
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: retain}
spec:
  target: {apiVersion: mill.example.org/v1, kind: GrainMill}
  customizations: {retention: {luaScript: "function Retain(desired, observed) return desired end"}}
"""


@pytest.mark.parametrize(
    ("kind", "overrides", "retain"),
    [
        pytest.param("GrainMill", "", "- .spec.stones", id="inline"),
        pytest.param("GrainMill", SCRIPT, "", id="script"),
        pytest.param("Treadmill", "", "", id="child"),
    ],
)
async def test_a_fight_is_seen_whoever_answers(kind: str, overrides: str, retain: str, tmp_path: Path) -> None:
    (tmp_path / "retain.yaml").write_text(overrides)
    made = Store([KARTAS], catalogue=False, overrides=[tmp_path])
    made.load()
    clock = [0.0]
    contention = Contention(lambda: clock[0], lambda: clock[0])
    calls = Calls(made, Options())
    calls.observers = (contention.see,)
    desired: Thing = {"apiVersion": "mill.example.org/v1", "kind": kind, "metadata": {"name": "a", "namespace": "b"}}
    for turn in range(5):  # the first question is only remembered
        clock[0] += 5
        metadata = desired["metadata"] | {"resourceVersion": str(turn), "uid": "u", "generation": 2 * turn}
        observed = desired | {"metadata": metadata, "spec": {"stones": 7}}
        answer = await calls.answer(question(desired | {"spec": {"stones": 3}}, observed), HANG)
        assert b'"successful":true' in answer
    calls.close()
    (fight,) = contention.fights()
    assert (fight["field"], fight["ours"], fight["theirs"], fight["retain"]) == (".spec.stones", "3", "7", retain)
    (metric,) = contention.collect()
    assert [(sample.labels, sample.value) for sample in metric.samples] == [
        ({"kind": f"mill.example.org/v1/{kind}", "field": ".spec.stones", "retain": retain}, 1)
    ]


def test_the_memory_of_objects_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []
    monkeypatch.setattr(room, "MEMORY", 50 * room.OBJECT_BYTES)
    monkeypatch.setattr(room, "differences", partial(no_differences, compared))
    contention = Contention(lambda: 0.0, lambda: 0.0)

    def ask(number: int, version: str) -> None:
        observed = template("Deployment")
        observed["metadata"] |= {"resourceVersion": version, "uid": f"u{number}"}
        body = question(template("Deployment"), observed)
        contention.note(body, decode(body), b'{"response":{}}', None)

    for number in range(100):
        ask(number, "1")
    monkeypatch.setattr(room, "_PAUSE", -1.0)
    for number in (49, 51, 99):
        ask(number, "2")
    assert compared == ["u51", "u99"]


def test_notes_take_a_hundredth_of_a_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = [0.0]

    def clock() -> float:
        ticks[0] += 1.0  # each look at the clock is a second later
        return ticks[0]

    seen: list[object] = []
    monkeypatch.setattr(Contention, "_seen", lambda *about: seen.append(about))
    contention = Contention(clock, lambda: 0.0, clock)
    request = decode(question(template("Deployment"), template("Deployment")))
    for _ in range(10_000):
        contention.note(b'"observedObject":"resourceVersion":"1","uid":"u"', request, b"", None)
    assert 90 <= len(seen) <= 110


def test_a_busy_server_searches_only_calls_about_objects_in_which_a_difference_has_come_back(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    habit, _ = HABITS["a pinned image"]
    member = Member(store, template("Deployment"))

    def searched() -> int:
        seen: list[int] = []
        with monkeypatch.context() as watched:
            watched.setattr(member.contention, "_free_at", member.now + 1000)
            watched.setattr(room, "_hash_of_desired", lambda body: seen.append(len(body)))
            member.turn(no_habit, 0)
        return len(seen)

    counts = []
    for number in range(4):
        member.turn(lambda thing, turn: habit(pods("Deployment", thing), turn), number)
        counts.append(searched())
    assert counts == [0, 0, 1, 0], "the hash that differs stands for an edit"


@pytest.mark.parametrize("body", [b"", b'"observedObject":"resourceVersion":"1","uid":"u"', b"[" * 2000])
def test_contention_ignores_calls_of_others_than_karmada(body: bytes) -> None:
    contention = Contention(lambda: 0.0, lambda: 0.0)
    request = decode(question(template("Deployment"), template("Deployment")))
    for version in range(3):
        contention.note(body.replace(b'"1"', b'"%d"' % version), request, b"", None)
    assert contention.fights() == []
