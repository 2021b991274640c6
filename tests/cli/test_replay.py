import asyncio
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from karta_interpreter.cli import replay
from karta_interpreter.definitions.sources.files import DefinitionFile
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.wire.recording import head, line
from tests.support.waiting import HANG

Run = Callable[..., Result]
OPERATIONS: dict[str, dict[str, Any]] = {
    "InterpretReplica": {},
    "InterpretComponent": {},
    "InterpretHealth": {},
    "InterpretStatus": {},
    "InterpretDependency": {},
    "ReviseReplica": {"replicas": 5},
    "AggregateStatus": {
        "aggregatedStatus": [{"clusterName": "north", "status": {"phase": "Running"}, "applied": True}]
    },
}


def _body(uid: str, operation: str, name: str = "demo", **fields: Any) -> bytes:
    spec = {"replicas": 3, "template": {"spec": {"containers": [{"name": "main"}]}}}
    obj = {
        "apiVersion": "example.io/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "team"},
        "spec": spec,
        "status": {"phase": "Running"},
    }
    kind = {"group": "example.io", "version": "v1", "kind": "Job"}
    request = {"uid": uid, "kind": kind, "name": name, "namespace": "team", "operation": operation, "object": obj}
    if operation == "Retain":
        request["observedObject"] = obj
    return json.dumps({"request": {**request, **fields}}).encode()


def _recorded(karta: Path, bodies: list[bytes]) -> bytes:
    """Return a file with the answers that a server gives with a definition."""
    store = Store([karta], catalogue=False)
    store.load()
    calls = Calls(store, DEFAULT_OPTIONS)

    async def answers() -> list[bytes]:
        return [await calls.answer(body, HANG) for body in bodies]

    pairs = zip(bodies, asyncio.run(answers()), strict=True)
    return head(DEFAULT_OPTIONS) + b"".join(line(1.0, *pair) for pair in pairs)


@pytest.fixture
def folder(files: Path, karta: Callable[..., str]) -> Path:
    """A folder with two recordings: each operation of three objects, and Retain."""
    (files / "doubled.yaml").write_text(karta(replicas=".spec.replicas * 2"))
    made = files / "recordings"
    made.mkdir()
    questions = [
        (f"{operation}-{number}", operation, f"demo{number}", fields)
        for number in range(3)
        for operation, fields in (OPERATIONS | {"Retain": {}}).items()
    ]
    bodies = [_body(uid, operation, name, **fields) for uid, operation, name, fields in questions]
    for number, part in enumerate((bodies[:10], bodies[10:])):
        _write(made, gzip.compress(_recorded(files / "karta.yaml", part)), number)
    return made


def _write(folder: Path, content: bytes, number: int) -> None:
    (folder / f"calls-20260101T000000Z-{number:08}.jsonl.gz").write_bytes(content)


def test_same_definition_replays_without_difference(run: Run, folder: Path) -> None:
    result = run("replay", str(folder), "--to", "karta.yaml")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "24 calls in 2 files: 0 answers differ\n"


def test_answers_that_differ_are_grouped_by_their_cause(run: Run, folder: Path) -> None:
    result = run("replay", str(folder), "--to", "doubled.yaml", "-o", "json")

    found = json.loads(result.stdout)
    groups = {each["operation"]: each for each in found["groups"]}
    assert result.exit_code == 1
    assert (found["calls"], found["different"]) == (24, 9)
    assert set(groups) == {"InterpretReplica", "InterpretComponent", "ReviseReplica"}
    replica = groups["InterpretReplica"]
    assert (replica["answers"], replica["objects"], len(replica["examples"])) == (3, 3, 3)
    assert replica["cause"].endswith("scaleDefinition.replicasPath: .spec.replicas * 2")
    assert replica["examples"][0]["differences"] == [{"path": "replica", "from": 3, "to": 6}]


def test_people_see_a_table_and_an_example_of_each_group(run: Run, folder: Path) -> None:
    result = run("replay", str(folder), "--to", "doubled.yaml")

    head, *rows = result.stdout.splitlines()
    assert head.split() == ["KIND", "OPERATION", "ANSWERS", "OBJECTS", "CAUSE"]
    assert rows[1].split()[:5] == ["example.io/v1", "Job", "InterpretReplica", "3", "3"]
    assert "\nJob team/demo0: InterpretReplica (uid InterpretReplica-0)\n  replica\n  - 3\n  + 6\n" in result.stdout


def test_answer_can_be_explained_by_its_uid(run: Run, folder: Path) -> None:
    result = run("replay", str(folder), "--to", "doubled.yaml", "--explain", "InterpretReplica-1")
    unknown = run("replay", str(folder), "--to", "doubled.yaml", "--explain", "nobody")

    assert result.exit_code == 0
    assert result.stderr == "The recorded answer differs:\n  replica\n  - 3\n  + 6\n"
    assert ".spec.replicas * 2" in result.stdout
    assert (unknown.exit_code, unknown.stderr) == (
        1,
        "error: there is no request nobody in the recordings, which name it in request.uid\n",
    )


def test_unreadable_calls_are_counted_and_named(run: Run, folder: Path, files: Path) -> None:
    good = _recorded(files / "karta.yaml", [_body("1", "InterpretReplica")])
    odd = line(1.0, b"[]", b'{"response":{}}') + b"nonsense\n" * 2
    _write(folder, gzip.compress(good + odd), 2)
    _write(folder, gzip.compress(good)[:-12], 3)
    _write(folder, gzip.compress(good.replace(b'"version":1', b'"version":9')), 4)
    _write(folder, b"from another program", 5)
    result = run("replay", str(folder), "--to", "karta.yaml")

    assert result.exit_code == 0
    *left_out, last = result.stderr.splitlines()
    names = {number: f"calls-20260101T000000Z-{number:08}.jsonl.gz" for number in range(6)}
    assert left_out == [
        f"warning: left out 2 times: {names[2]}: a line is not a call",
        f"warning: left out: {names[3]}: it ends before its end",
        f"warning: left out: {names[4]}: it has version 9 of the format, and this program reads 1; use a newer one",
        f"warning: left out: {names[5]}: it is not a recording of this program",
        "warning: left out: the body must be an object, but is a list",
    ]
    assert last.endswith("calls in 6 files: 0 answers differ")


def test_calls_beyond_the_bound_of_findings_are_left_out_and_counted(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "_MOST_KEPT", 1)
    result = run("replay", str(folder), "--to", "doubled.yaml")

    assert "left out 23 times: the findings have passed" in result.stderr
    assert "1 call in 2 files" in result.stderr


def test_marks_of_left_out_values_are_said(run: Run, folder: Path, files: Path) -> None:
    body = _body("r", "InterpretReplica").replace(b'"main"', b'"main", "env": [{"value": "redacted-1"}]')
    _write(folder, gzip.compress(_recorded(files / "karta.yaml", [body])), 0)
    (folder / "calls-20260101T000000Z-00000001.jsonl.gz").unlink()

    assert "; values were left out of the recording)" in run("replay", str(folder), "--to", "doubled.yaml").stdout


def test_replay_with_from_compares_two_sides_of_one_question(run: Run, folder: Path) -> None:
    same = run("replay", str(folder), "--from", "doubled.yaml", "--to", "doubled.yaml")
    changed = run("replay", str(folder), "--from", "doubled.yaml", "--to", "karta.yaml", "-o", "json")

    assert (same.exit_code, same.stdout) == (0, "")
    groups = {each["operation"]: each for each in json.loads(changed.stdout)["groups"]}
    assert groups["InterpretReplica"]["examples"][0]["differences"] == [{"path": "replica", "from": 6, "to": 3}]


def test_replay_takes_the_first_of_several_sides_and_the_catalogue_last(run: Run, folder: Path) -> None:
    result = run("replay", str(folder), "--to", "catalogue", "--to", "karta.yaml", "--to", "doubled.yaml")

    assert result.exit_code == 0
    assert "job from karta.yaml hides job from doubled.yaml" in result.stderr
    assert result.stderr.endswith("24 calls in 2 files: 0 answers differ\n")


def test_replay_of_chosen_kinds_leaves_the_others_out(run: Run, folder: Path) -> None:
    result = run("replay", str(folder), "--to", "doubled.yaml", "--kinds", "RayCluster")

    assert result.exit_code == 1
    assert result.stderr == (
        "warning: --kinds RayCluster: no recorded call is about it; others are about Job\n"
        "0 calls in 2 files: nothing was compared\n"
    )


def test_replay_of_a_folder_with_many_kinds_reads_it_once(
    run: Run, folder: Path, files: Path, karta: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    many = files / "many"
    many.mkdir()
    for kind in ("Job", "Other", "Third"):
        (many / f"{kind}.yaml").write_text(karta(kind))
    bodies = [_body(kind, "InterpretReplica").replace(b'"Job"', f'"{kind}"'.encode()) for kind in ("Other", "Third")]
    _write(folder, gzip.compress(_recorded(many, bodies)), 7)
    reads: list[Path] = []
    read_file = DefinitionFile.read

    def read(file: DefinitionFile) -> DefinitionFile:
        reads.append(file.path)
        return read_file(file)

    monkeypatch.setattr(DefinitionFile, "read", read)

    result = run("replay", str(folder), "--to", "many")

    assert result.stderr == "26 calls in 3 files: 0 answers differ\n"
    assert len(reads) == len(set(reads)) == 3


@pytest.mark.parametrize("code", [503, 504])
def test_replay_leaves_out_calls_that_the_server_had_no_time_for(run: Run, folder: Path, code: int) -> None:
    answer = json.dumps({"response": {"uid": "1", "successful": False, "status": {"code": code}}}).encode()
    _write(folder, gzip.compress(head(DEFAULT_OPTIONS) + line(1.0, _body("1", "InterpretReplica"), answer)), 2)

    result = run("replay", str(folder), "--to", "karta.yaml")

    assert result.exit_code == 0
    assert f"warning: left out: the server answered {code}: it had no time for the call" in result.stderr


@pytest.mark.parametrize(
    ("definition", "differences"),
    [
        pytest.param("karta.yaml", [("error: left out", {"replica": 3, "requires": None})], id="answered now"),
        pytest.param("silent.yaml", [], id="left out by this definition, too"),
    ],
)
def test_operation_that_a_server_left_out_is_compared(
    run: Run, folder: Path, files: Path, definition: str, differences: list[Any]
) -> None:
    text = (files / "karta.yaml").read_text()
    metadata = "metadata:\n  annotations: {karta-interpreter.io/operations: InterpretHealth}\n"
    (files / "silent.yaml").write_text(text.replace("metadata:\n", metadata, 1))
    status = {"code": 400, "message": "left out"}
    answer = json.dumps({"response": {"uid": "1", "successful": False, "status": status}}).encode()
    for path in folder.iterdir():
        path.unlink()
    _write(folder, gzip.compress(head(DEFAULT_OPTIONS) + line(1.0, _body("1", "InterpretReplica"), answer)), 0)

    result = run("replay", str(folder), "--to", definition, "-o", "json")

    found = [each["differences"] for group in json.loads(result.stdout)["groups"] for each in group["examples"]]
    assert [(each["from"], each["to"]) for (each,) in found] == differences


def test_replay_names_what_the_new_definition_no_longer_has(run: Run, folder: Path, files: Path) -> None:
    text = (files / "karta.yaml").read_text()
    (files / "without.yaml").write_text(text.replace("podTemplateSpecPath: .spec.template", "podSpecPath: .spec.pod"))

    result = run("replay", str(folder), "--from", "karta.yaml", "--to", "without.yaml", "-o", "json")

    causes = {each["operation"]: each["cause"] for each in json.loads(result.stdout)["groups"]}
    assert causes["InterpretComponent"].startswith("rootComponent.specDefinition.pod")
