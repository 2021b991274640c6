"""What a server tells its workers, and what they know then."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given, settings
from hypothesis import strategies as st

from karta_interpreter.errors import QueryReferenceError
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.pki.certificate import Certificate
from karta_interpreter.server.serving import Server
from karta_interpreter.server.settings import Settings
from karta_interpreter.server.workers.changes import State, difference
from karta_interpreter.server.workers.messages import (
    Begin,
    Certify,
    Define,
    Drain,
    Drop,
    Hold,
    Take,
    ToWorker,
    encode,
    to_worker,
)
from karta_interpreter.server.workers.mirror import Mirror
from karta_interpreter.sources.object_cache import NOT_YET, CachedObjects
from karta_interpreter.sources.snapshot import Entry, Snapshot
from karta_interpreter.sources.store import Store
from tests.server.client import Client, post, question, trusting
from tests.server.pairs import chain_pem, key_pem, new_key
from tests.server.process import KARTAS
from tests.sources.scripted_api import ScriptedApi, serving, write_kubeconfig

OVERRIDES = KARTAS.with_name("overrides")
HALL = GVK("toys.example.com", "v1", "Hall")
SHED = GVK("toys.example.com", "v1", "Shed")
HALLS = "/apis/toys.example.com/v1/hall"
KARTA = """
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: orchestra}
spec:
  structureDefinition:
    references:
      - name: hall
        gvk: {group: toys.example.com, version: v1, kind: Hall}
        lookup: {nameExpression: .spec.hall}
    rootComponent:
      name: orchestra
      kind: {group: mill.example.org, version: v1, kind: Orchestra}
      specDefinition: {podTemplateSpecPath: .spec.template}
      scaleDefinition: {replicasPath: $hall.spec.seats}
      statusDefinition:
        phaseDefinition: {path: .status.phase}
        statusMappings: {}
"""


def told(mirror: Mirror, messages: list[ToWorker]) -> None:
    for message in messages:
        match to_worker(encode(message)):
            case Define() as define:
                mirror.define(define)
            case Hold() as hold:
                mirror.hold(hold)
            case Drop() as drop:
                mirror.drop(drop)
            case Take() as take:
                mirror.take(take)
            case other:
                pytest.fail(f"{other} is not for those who learn")


def entries() -> dict[GVK, Entry]:
    """Kartas alone, scripts over a Karta, and scripts alone."""
    return dict(Store((KARTAS,), catalogue=False, overrides=(OVERRIDES,)).load().entries)


ENTRIES = entries()
OBJECTS = {name: {"metadata": {"name": name}, "seats": number} for number, name in enumerate(("great", "small", "a/b"))}


@st.composite
def states(draw: st.DrawFn) -> State:
    kinds = draw(st.sets(st.sampled_from(sorted(ENTRIES))))
    holdings: dict[GVK, CachedObjects] = {}
    for gvk in draw(st.sets(st.sampled_from([HALL, SHED]))):
        if draw(st.booleans()):
            holdings[gvk] = CachedObjects(
                {key: OBJECTS[key] for key in draw(st.sets(st.sampled_from(sorted(OBJECTS))))}
            )
        else:
            holdings[gvk] = CachedObjects(problem="nobody may look")
    taken = draw(st.dictionaries(st.sampled_from(sorted(ENTRIES)), st.sampled_from(["one", "two"])))
    generation = draw(st.integers(1, 9))
    return State(Snapshot({gvk: ENTRIES[gvk] for gvk in kinds}, generation=generation), holdings, taken)


@settings(max_examples=30, deadline=None)
@given(st.lists(states(), min_size=1, max_size=3))
def test_whatever_was_before_a_worker_knows_what_the_server_knows(way: list[State]) -> None:
    mirror, before = Mirror(), State()
    for after in way:
        told(mirror, list(difference(before, after)))
        before = after
        assert without_findings(mirror.snapshot) == without_findings(after.snapshot)
        assert mirror.snapshot.generation == after.snapshot.generation
        assert {gvk: mirror.holding(gvk) for gvk in (HALL, SHED)} == {HALL: NOT_YET, SHED: NOT_YET} | dict(
            after.holdings
        )
        assert mirror.kinds == after.kinds


def without_findings(snapshot: Snapshot) -> Mapping[GVK, Entry]:
    """The entries without the warnings they were loaded with, whose lines in files are of no use to a worker."""
    return {gvk: Entry(replace(entry.definition, findings=()), entry.origin) for gvk, entry in snapshot.entries.items()}


def test_only_what_is_different_is_said() -> None:
    halls = CachedObjects({"great": {"seats": 3}, "small": {"seats": 1}})
    before = State(Snapshot(ENTRIES, generation=1), {HALL: halls}, {HALL: "orchestra"})
    assert list(difference(before, before)) == []

    mill = GVK("mill.example.org", "v1", "GrainMill")
    edited = {**ENTRIES, mill: Entry(replace(ENTRIES[mill].definition, name="other"), "cluster")}
    [define] = difference(before, replace(before, snapshot=Snapshot(edited, generation=2)))
    assert isinstance(define, Define)
    assert [(served.origin, served.source) for served in define.served] == [
        ("cluster", ENTRIES[mill].definition.source)
    ]

    changed = CachedObjects({"great": halls.objects["great"], "small": {"seats": 2}})
    assert list(difference(before, replace(before, holdings={HALL: changed}))) == [
        Hold((HALL.group, HALL.version, HALL.kind), [], {"small": b'{"seats": 2}'}, "")
    ]
    assert list(difference(before, replace(before, draining=True))) == [Drain()]


def test_a_certificate_is_said_when_it_is_another_one() -> None:
    first = Certificate(b"chain", b"key", ("localhost",), 1.0)
    second = replace(first, chain=b"another")
    new = State()
    known = replace(new, certificate=first)
    assert list(difference(new, known)) == [], "a worker begins with one"
    assert list(difference(known, replace(new, certificate=second))) == [Certify(second)]


def test_settings_and_certificates_arrive_as_they_were() -> None:
    chosen = Settings(folders=(Path("a"), Path("b/c")), ca_file=Path("d"), call_limit=0.5, kubeconfig=None)
    begin = Begin(3, chosen, Certificate(b"chain", b"key", ("localhost",), 1.0, b"ca"))
    assert to_worker(encode(begin)) == begin


def test_a_worker_says_of_objects_what_the_server_would() -> None:
    mirror = Mirror()
    with pytest.raises(QueryReferenceError, match="it has not been listed yet"):
        mirror.get(HALL, "town", "great")
    told(mirror, [Hold((HALL.group, HALL.version, HALL.kind), [], {}, "nobody may look")])
    with pytest.raises(QueryReferenceError, match="Kind=Hall cannot be looked up: nobody may look"):
        mirror.list(HALL, None)


async def test_certificates_and_referenced_objects_reach_every_worker(tmp_path: Path) -> None:
    (tmp_path / "kartas").mkdir()
    (tmp_path / "kartas" / "orchestra.yaml").write_text(KARTA)
    write_pair(tmp_path)
    api = ScriptedApi(kinds={"toys.example.com/v1": ["Hall"], "mill.example.org/v1": ["Orchestra"]})
    api.collections[HALLS] = {}
    api.put(HALLS, "great", {"seats": 7})
    async with serving(api):
        chosen = Settings(
            port=0,
            workers=2,
            catalogue=False,
            folders=(tmp_path / "kartas",),
            cluster=True,
            kubeconfig=write_kubeconfig(tmp_path / "kubeconfig", api.url),
            certificate_file=tmp_path / "tls.crt",
            key_file=tmp_path / "tls.key",
            certificate_interval=0.05,
        )
        async with Server(chosen) as server:
            await seen_by_all(server.started.port, tmp_path, 7)
            api.put(HALLS, "great", {"seats": 9})
            renewed = write_pair(tmp_path)
            await asyncio.sleep(0.3)
            assert await seen_by_all(server.started.port, tmp_path, 9) == {renewed}


async def seen_by_all(port: int, folder: Path, seats: int) -> set[bytes]:
    """Ask over as many connections as it takes to meet both workers; return the certificates that were shown."""
    context = trusting_pair(folder)
    clients = [await Client.connect(port, context) for _ in range(4)]
    for client in clients:
        await client.ask_until(post(orchestra()), lambda answer: answer.response.get("replicas") == seats)
        await client.close()
    return {client.peer_certificate for client in clients}


def orchestra() -> bytes:
    obj = {
        "apiVersion": "mill.example.org/v1",
        "kind": "Orchestra",
        "metadata": {"name": "rye", "namespace": "bakery"},
        "spec": {"hall": "great", "template": {"spec": {"containers": [{"name": "player"}]}}},
    }
    return question("Orchestra", object=obj)


def write_pair(folder: Path) -> bytes:
    """Write a new pair, and return its certificate as it is shown."""
    key = new_key()
    (folder / "tls.key").write_bytes(key_pem(key))
    (folder / "tls.crt").write_bytes(chain := chain_pem(key))
    return x509.load_pem_x509_certificate(chain).public_bytes(Encoding.DER)


def trusting_pair(folder: Path) -> ssl.SSLContext:
    return trusting((folder / "tls.crt").read_bytes())
