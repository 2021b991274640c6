"""How each row of the table is fed: callers, writers of definitions and users of the types API at their worst."""

# ruff: noqa: SLF001 - what something holds is private
import gzip
import logging
import zlib
from asyncio import Future
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest import mock

import orjson

from karta_interpreter.base.errors import ClusterError, RecordingError, RequestError
from karta_interpreter.base.findings import Finding, Severity
from karta_interpreter.base.k8s.projection import Projection
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.base.sandbox.pool import Pool
from karta_interpreter.cli import replay
from karta_interpreter.cli.changes import Side
from karta_interpreter.clusters import bindings, saved
from karta_interpreter.clusters.member import Member, Tree
from karta_interpreter.definitions.karta import AnnotationQuery, Immutable
from karta_interpreter.definitions.karta.definition import ComponentRules, Definition
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.definitions.sources import api_server, budget, reference_cache
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.budget import Budget, weight, weight_of
from karta_interpreter.definitions.sources.files import DefinitionFile
from karta_interpreter.definitions.sources.informer import Informer, Pace
from karta_interpreter.definitions.sources.shares import Shares
from karta_interpreter.definitions.sources.snapshot import Quarantined
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.definitions.sources.unread import UnreadObjects
from karta_interpreter.engine import redaction
from karta_interpreter.engine.comparison.bindings import Comparison
from karta_interpreter.engine.comparison.change import Change
from karta_interpreter.engine.fights import rounds
from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.engine.registered.interpreters import Interpreters
from karta_interpreter.engine.suites import Difference
from karta_interpreter.engine.verification import Evidence
from karta_interpreter.languages.jq.compiled.regex import compile_pattern, test
from karta_interpreter.languages.lua.script import Script, Scripts
from karta_interpreter.web.types_api.access import ClusterAccess
from karta_interpreter.web.types_api.application import ClientLimits
from karta_interpreter.webhook import admission, log
from karta_interpreter.webhook.answering import call_log, child_lane, child_program, fights
from karta_interpreter.webhook.answering.fights import Fights
from karta_interpreter.webhook.answering.load import Load
from karta_interpreter.webhook.answering.pending_call import Answer, PendingCall
from karta_interpreter.webhook.answering.recorder import Recorder
from karta_interpreter.webhook.http.bodies import Bodies
from karta_interpreter.webhook.process import server
from karta_interpreter.webhook.process.health import HealthListener
from karta_interpreter.webhook.registration import other_counts
from karta_interpreter.webhook.wire import Request, encode_failure, fast_decoder, recording
from karta_interpreter.webhook.wire.recording import RecordedCall
from tests.bounds.feeding import FEEDERS, TEXT, TIMES, Fed, feeder
from tests.webhook.answering.answered import answered
from tests.webhook.process.client import question
from tests.webhook.process.process import KARTAS

__all__ = ["FEEDERS"]


@feeder("log lines that wait", "webhook.log:_MOST_WAITING", small=20)
def _log_lines(_: int) -> Iterator[Fed]:
    with mock.patch.object(log, "_LogWriter"):
        lines = log._Lines(str)
    yield Fed(lines.enqueue, lines.queue.qsize, lambda: lines.dropped)


@feeder("broken definitions of one source that the log names", "webhook.process.server:_MOST_LOGGED", small=5)
def _quarantined(_: int) -> Iterator[Fed]:
    broken: list[Quarantined] = []
    lines = Counter[str]()

    def held() -> int:
        lines.clear()
        with mock.patch.object(log.log, "warning", lambda message, **_: lines.update([message])):
            server._log_quarantined(broken)
        return lines["definition quarantined"]

    one = Quarantined("a folder", (Finding(Severity.ERROR, "rule", (), "it is broken"),), "mill")
    yield Fed(lambda _: broken.append(one), held, lambda: lines["more definitions cannot be used"])


@feeder("calls in work", "webhook.answering.load:MOST_IN_WORK", small=8)
def _calls_in_work(bound: int) -> Iterator[Fed]:
    load, rejected = Load(bound), Counter[int]()

    def push(_: str) -> None:
        try:
            load.begin()
        except RequestError as error:
            rejected[error.status] += 1

    yield Fed(push, lambda: load._in_work, lambda: rejected[503])


class _Sender:
    is_receiving = True

    def has_room(self, _: int) -> bool:
        return True

    def disconnect(self) -> None:
        pass


@feeder("bodies that have come and are not answered", "webhook.http.bodies:_MOST", small=10 * TEXT, unit=TEXT)
def _bodies(bound: int) -> Iterator[Fed]:
    bodies, kept = Bodies(bound), list[bytes]()
    rejected = 0

    def push(text: str) -> None:
        nonlocal rejected
        if bodies.take(_Sender(), len(text)):
            kept.append(text.encode())
        else:
            rejected += 1

    yield Fed(push, lambda: bodies._total, lambda: rejected)


@feeder("kinds of failed calls that the log counts", "webhook.answering.call_log:_MOST_LINES", small=40)
def _failed_calls(_: int) -> Iterator[Fed]:
    calls = call_log.CallLog()
    answer = Answer(b"", 422, "", 0.0, is_inline=True)

    def push(text: str) -> None:
        definition: Any = SimpleNamespace(name=text)
        calls.see(PendingCall(0.0, b"", Request(""), definition), answer)

    logger = log.log.logger
    level = logger.level
    logger.setLevel(logging.ERROR)  # pytest keeps each record
    yield Fed(push, lambda: len(calls._lines))
    logger.setLevel(level)


@feeder(
    "definitions of all files together",
    "definitions.sources.budget:MOST",
    small=8 * 3 * TEXT,
    unit=3 * TEXT,
)
def _definitions(bound: int) -> Iterator[Fed]:
    room, kept = Budget(bound), list[DefinitionFile]()
    karta = (KARTAS / "mill.yaml").read_text()

    def push(text: str) -> None:
        size = bound // 8 - weight(karta.encode())
        content = f"{karta}#{text.ljust(size, 'x')[: size // 2 - 1]}"
        file = DefinitionFile(Path(str(len(kept))), budget=room).holding(content.encode())
        if file.entries:
            kept.append(file)

    yield Fed(push, lambda: room.held, lambda: len(room.refused))


@feeder(
    "Kartas of the cluster, with the definitions of files",
    "definitions.sources.budget:MOST",
    small=8 * 3 * TEXT,
    unit=3 * TEXT,
)
def _cluster_kartas(bound: int) -> Iterator[Fed]:
    yield from _informed(bound, dict, weight_of)


@feeder("objects that definitions refer to", "definitions.sources.budget:MOST", small=9 * TEXT, unit=2 * TEXT)
def _references(bound: int) -> Iterator[Fed]:
    api: Any = None
    shares, unread = Shares(bound), UnreadObjects(mock.Mock(), GVK("", "v1", "Hall").type_meta)
    informer = Informer[bytes](api, "/api/v1/halls", reference_cache._view, Pace(), shares, reference_cache._weigh)

    def push(text: str) -> None:
        obj = {"metadata": {"namespace": "a", "name": text[:12]}, "spec": text}
        informer.put(unread._unread(orjson.dumps(obj)))

    yield Fed(push, lambda: shares.held, lambda: len(shares.left_out))


@feeder(
    "bytes of the objects that one call looks up",
    "webhook.answering.child_lane:MOST_BYTES",
    small=9 * TEXT,
    unit=2 * TEXT,
)
def _looked_up_bytes(_: int) -> Iterator[Fed]:
    yield from _looked_up(lambda replies: sum(map(len, replies)))


@feeder(
    "look-ups of one call, or the objects that they find",
    "webhook.answering.child_lane:MOST_OBJECTS",
    small=10,
)
def _looked_up_objects(_: int) -> Iterator[Fed]:
    yield from _looked_up(len)


def _looked_up(held: Callable[[list[bytes]], int]) -> Iterator[Fed]:
    """Feed one call whose child process looks up one object after the other: what the process gets."""
    hall, replies, refusals = GVK("", "v1", "Hall"), list[bytes](), set[bytes]()
    looked_up = child_lane._LookedUp()

    def push(text: str) -> None:
        known = Known.of([{"apiVersion": "v1", "kind": "Hall", "metadata": {"name": "a"}, "spec": text}])
        letter, reply = looked_up.reply(known, orjson.dumps([[*hall], "", "a"]))
        if letter == child_program.ANSWER:
            replies.append(reply)
        else:
            refusals.add(reply)

    yield Fed(push, lambda: held(replies), lambda: len(refusals))


def _informed(bound: int, view: Callable[[Any], Any], weigh: Callable[[Any], int]) -> Iterator[Fed]:
    api: Any = None
    kept = Budget(bound)
    informer = Informer[Any](api, "/apis/run.ai/v1alpha1/kartas", view, Pace(), kept, weigh)
    with mock.patch.object(budget, "MOST_REFUSED", 10):
        yield Fed(
            lambda text: informer.put({"metadata": {"name": text[:12]}, "spec": text}),
            lambda: kept.held,
            lambda: len(kept.refused),
        )


@feeder(
    "customizations that a server compares with its counts",
    "webhook.registration.other_counts:MOST",
    small=200_000,
    unit=TEXT + 4096,
)
def _customizations(bound: int) -> Iterator[Fed]:
    with mock.patch.object(other_counts, "MOST", bound), mock.patch.object(budget, "MOST_REFUSED", 10):
        api: Any = None
        counts = other_counts.OtherCounts(api, Pace(), lambda: None)
        kept = counts.customizations._budget

        def push(text: str) -> None:
            spec = {"target": {"apiVersion": "a.io/v1", "kind": "A"}}
            scripts = {"customizations": {"replicaResource": {"luaScript": text}}}
            counts.customizations.put({"metadata": {"name": text[:12]}, "spec": {**spec, **scripts}})

        yield Fed(push, lambda: kept.held, lambda: len(kept.refused))


@feeder("texts for which a pattern remembers the answer", "languages.jq.compiled.regex:_KEPT", small=64)
def _patterns(_: int) -> Iterator[Fed]:
    pattern = compile_pattern("x$")
    info = pattern.kept.cache_info  # type: ignore[attr-defined]  # of `lru_cache`

    def push(text: str) -> None:
        test(text[:128], pattern)
        test(text, pattern)

    yield Fed(push, lambda: info().currsize)


@feeder("definitions of which a recorder remembers what they read", "engine.redaction:MOST_KINDS", small=3)
def _recorded_kinds(bound: int) -> Iterator[Fed]:
    known = redaction.Redaction(b"key")

    def push(text: str) -> None:
        definition = Definition(text[:64], GVK("example.io", "v1", "Mill"), (ComponentRules(text[:64], "mill"),))
        known.redacted(b'{"request": {}}', b"{}", definition)

    with mock.patch.object(redaction, "MOST_KINDS", bound):
        yield Fed(push, lambda: len(known._reads_by_name))


@feeder("calls that wait to be recorded", "webhook.answering.recorder:MOST_WAITING", small=10 * TEXT, unit=TEXT)
def _recorded(_: int) -> Iterator[Fed]:
    outcomes = Counter[str]()
    recorder = Recorder(Path(), 2**20, DEFAULT_OPTIONS, lambda outcome: outcomes.update([outcome]))
    yield Fed(
        lambda text: recorder.see(*answered(text.encode(), b"")),
        lambda: recorder._put - recorder._taken,
        lambda: outcomes["dropped"],
    )


@feeder("recordings in the folder", "webhook.answering.recorder:MOST_RECORDED", small=20 * TEXT, unit=TEXT)
def _recordings(bound: int) -> Iterator[Fed]:
    with TemporaryDirectory() as name, mock.patch("zlib.compressobj", _Plain):
        recorder = Recorder(Path(name), bound, DEFAULT_OPTIONS, lambda _: None, secret=True)
        yield Fed(
            lambda text: recorder.record(0.0, orjson.dumps({"spec": text}), b"{}"),
            lambda: sum(path.stat().st_size for path in Path(name).iterdir()),
        )


@feeder(
    "types of parts of objects that the server's own process decodes",
    "webhook.wire.fast_decoder:MOST_TYPES",
    small=40,
    unit=2,
)
def _types(bound: int) -> Iterator[Fed]:
    there = len(dict.__subclasses__())
    sources = Store(catalogue=False, folders=[KARTAS])
    sources.load()
    definition = sources.snapshot.find(GVK("mill.example.org", "v1", "GrainMill"))
    decoder = fast_decoder.FastDecoder(lambda _: definition)
    obj = {"apiVersion": "mill.example.org/v1", "kind": "GrainMill"}
    lost, projection = 0, Projection()

    def push(text: str) -> None:
        nonlocal lost, projection
        projection = Projection()
        projection.take("kind", "apiVersion", f"spec.{text[:12]}")
        body = orjson.dumps(orjson.loads(question(f"Mill{text[:12]}", object=obj))) + b"\n"
        lost += decoder.read(body) is None
        decoder.use(lambda _: definition)

    def latest(*_: object) -> Projection:
        return projection

    with (
        mock.patch.object(fast_decoder, "projection_of", latest),
        mock.patch.object(fast_decoder, "MOST_TYPES", there + bound),
    ):
        yield Fed(push, lambda: len(dict.__subclasses__()) - there, lambda: lost)


class _Plain:
    """Compresses nothing, so that the size of a recording is that of its calls."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def compress(self, text: bytes) -> bytes:
        return text

    def flush(self, _: int = 0) -> bytes:
        return b""


@feeder("addresses whose requests to the types API are counted", "web.types_api.application:_MOST_CLIENTS", small=20)
def _clients(_: int) -> Iterator[Fed]:
    limits = ClientLimits(600, lambda: 0.0)
    yield Fed(limits.take, lambda: len(limits._clients))


@feeder("reviews of tokens that are kept for ten seconds", "web.types_api.access:_MOST_KEPT", small=20)
def _tokens(_: int) -> Iterator[Fed]:
    answer = {"status": {"authenticated": True, "user": {"username": "ada"}}}

    async def create(*_: object) -> Any:
        return answer

    api: Any = SimpleNamespace(create=create)
    access = ClusterAccess(api, lambda: 0.0)

    def push(text: str) -> None:
        work = access.user(text)
        try:
            work.send(None)
        except StopIteration:
            return
        raise AssertionError

    yield Fed(push, lambda: len(access._kept))


@feeder("the message of an answer that failed", "webhook.wire.response:_MAX_MESSAGE_LENGTH", small=4096, unit=64)
def _messages(_: int) -> Iterator[Fed]:
    texts: list[str] = []

    def message() -> str:
        return str(orjson.loads(encode_failure("1", 422, " ".join(texts)))["response"]["status"]["message"])

    yield Fed(lambda _: texts.append("x" * 63), lambda: len(message()), lambda: message().endswith("…"))


@feeder("errors that deny a Karta", "webhook.admission:_MAX_MESSAGE", small=32_768, unit=512)
def _errors(_: int) -> Iterator[Fed]:
    findings: list[Finding] = []

    def message() -> str:
        return admission.refusal("Karta", "mill", findings)

    one = Finding(Severity.ERROR, "rule", ("spec",), "x" * 480)
    yield Fed(lambda _: findings.append(one), lambda: len(message()), lambda: "more" in message().splitlines()[-1])


@feeder("definitions whose last process was stopped", "base.sandbox.pool:MOST_STOPPED", small=20)
def _stopped(_: int) -> Iterator[Fed]:
    process: Any = type("Stopping", (), {"stop": lambda _: None})()
    pool = Pool(lambda: process, 1)
    yield Fed(lambda text: pool.drop(process, text), lambda: len(pool._stopped))


@feeder("a text in a line of the log", "webhook.log:LONGEST", small=4096, unit=64)
def _log_text(_: int) -> Iterator[Fed]:
    texts: list[str] = []

    def text() -> str:
        _, record = log.log.process("failed", {"name": " ".join(texts)})
        return str(record["extra"]["fields"]["name"])

    yield Fed(lambda _: texts.append("x" * 63), lambda: len(text()), lambda: text().endswith("…"))


@feeder("the call whose resources are looked at", "webhook.answering.call_log:LARGEST", small=6400, unit=64)
def _looked_at(_: int) -> Iterator[Fed]:
    resources, sizes = call_log.AnswerGaps(), count(64, 64)
    request: Any = SimpleNamespace(operation_name="InterpretReplica")
    answer = Answer(b"", 200, "", 0.0, is_inline=True)

    def push(_: str) -> None:
        resources.see(PendingCall(0.0, b"x" * next(sizes), request, None), answer)

    yield Fed(push, lambda: len(resources._latest.body) if resources._latest else 0)


@feeder(
    "calls of Retain that wait to be looked at for what the member refuses",
    "webhook.answering.call_log:MOST_RETAINED",
    small=5,
)
def _retained_calls(_: int) -> Iterator[Fed]:
    gaps = call_log.AnswerGaps()
    request: Any = SimpleNamespace(operation_name="Retain")
    definition: Any = SimpleNamespace(
        gvk=GVK("example.io", "v1", "Train"),
        annotations=SimpleNamespace(retain=(Immutable(AnnotationQuery.compile(".spec.size"), word="share"),)),
    )
    answer = Answer(b"", 200, "", 0.0, is_inline=True)
    yield Fed(
        lambda text: gaps.see(PendingCall(0.0, text.encode(), request, definition), answer),
        lambda: len(gaps._retained),
    )


@feeder("objects whose rounds of a fight are remembered", "webhook.answering.fights:MOST_OBJECTS", small=5)
def _rounds(_: int) -> Iterator[Fed]:
    seen = Fights(lambda: 0.0, lambda: 1e9, lambda: 0.0)
    yield Fed(lambda text: _fight(seen, text, 1), lambda: len(seen._rounds))


@feeder(
    "a key of a list's elements in managedFields",
    "engine.fights.rounds:_LONGEST",
    small=256,
    unit=32,
)
def _element_key(_: int) -> Iterator[Fed]:
    keys, taken = count(32, 32), [0]

    def push(_: str) -> None:
        size = next(keys)
        key = f'k:{{"{"x" * (size - 7)}":1}}'[:size]
        taken[0] = max(taken[0], len(rounds._example([{key: {}}])))

    yield Fed(push, lambda: taken[0])


@feeder("fights", "webhook.answering.fights:_MOST_FIGHTS", small=5)
def _fights(_: int) -> Iterator[Fed]:
    seen = Fights(lambda: 0.0, lambda: 1e9, lambda: 0.0)
    with mock.patch.object(fights, "MOST_OBJECTS", 5), mock.patch.object(log.log, "warning"):
        yield Fed(lambda text: _fight(seen, text, 3), lambda: len(seen.current()))
    for fight in seen.current():
        names = fight.kind, fight.cluster, fight.namespace, fight.name, fight.field, fight.ours, fight.theirs
        longest = max(map(len, (*names, fight.manager, *fight.others)))
        assert (longest, len(fight.others)) == (256, 20), "a text of a caller is kept whole"


def _fight(seen: Fights, text: str, times: int) -> None:
    """Let somebody overwrite a field so often. All names are as long as can be."""
    name, fields = text[:256], [f"{number:02}{text[:240]}" for number in range(TIMES)]
    own = {"annotations": {"work.karmada.io/name": text, "work.karmada.io/namespace": text}}
    desired = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": own}
    spec: Any = {one: dict.fromkeys(fields, 3) for one in ("a", "b", "c")}
    definition = Definition.of_scripts(GVK("apps", "v1", "Deployment"), Scripts([Script("Retain", "", "mine")]))
    request = Request("1", definition.gvk, text[:256], name, "Retain")
    for number in range(times):
        wrote: Any = {"manager": "karmada", "time": f"2026-11-20T02:12:{number:02}Z"}
        wrote["fieldsV1"] = {"f:metadata": {"f:annotations": {"f:work.karmada.io/name": {}}}}
        scaled = {"manager": text, "subresource": "scale", "fieldsV1": {"f:spec": {}}}
        metadata = own | {"resourceVersion": "1", "uid": text[:12], "managedFields": [wrote, scaled]}
        observed = desired | {"metadata": metadata, "spec": {one: dict.fromkeys(fields, 7) for one in spec}}
        asked = {"request": {"object": desired | {"spec": spec}, "observedObject": observed}}
        call = PendingCall(0.0, orjson.dumps(asked), request, definition)
        seen.see(call, Answer(b'{"response":{}}', 200, "", 0.0, is_inline=False))


class _Reader:
    def __init__(self, name: str) -> None:
        self.name = name

    def readuntil(self, _: bytes) -> Future[bytes]:
        return Future()


@feeder("probes that wait at the port of health", "webhook.process.health:_MOST_PROBES", small=20)
def _probes(_: int) -> Iterator[Fed]:
    listener, work = HealthListener(mock.Mock(), "", 0), dict[str, Any]()

    def push(text: str) -> None:
        reader: Any = _Reader(text)
        writer: Any = SimpleNamespace(write=abs, transport=SimpleNamespace(abort=lambda: work.pop(text, None)))
        work[text] = listener._probe(reader, writer)
        work[text].send(None)

    def timeout(_: float) -> AsyncExitStack:
        return AsyncExitStack()

    with mock.patch("asyncio.timeout", timeout):  # a mock would keep its calls
        yield Fed(push, lambda: len(listener._probes))
    listener._loop.close()
    for probe in work.values():
        probe.close()


@feeder("a line of a recording that replay reads", "webhook.wire.recording:LONGEST", small=20 * TEXT, unit=TEXT)
def _recorded_line(_: int) -> Iterator[Fed]:
    packer = zlib.compressobj(wbits=31)
    with TemporaryDirectory() as name:
        path = Path(name) / "calls"
        path.write_bytes(packer.compress(b"{}\n"))

        def push(text: str) -> None:
            with path.open("ab") as file:
                file.write(packer.compress(text.encode()) + packer.flush(zlib.Z_SYNC_FLUSH))

        def lines() -> list[bytes | RecordingError]:
            return list(recording._lines(path))

        yield Fed(
            push,
            lambda: max(len(line) for line in lines() if isinstance(line, bytes)),
            lambda: any("is longer than" in str(line) for line in lines()),
        )


@feeder("the findings of replay", "cli.replay:_MOST_KEPT", small=30_000, unit=1_500)
def _findings(_: int) -> Iterator[Fed]:
    recorded = replay.Replay(None, Side(()))

    def push(text: str) -> None:
        kind = text[:200]  # a longer one is not a question
        about = {"group": "example.io", "version": "v1", "kind": kind}
        obj = {"apiVersion": "example.io/v1", "kind": kind, "metadata": {"name": "demo"}}
        asked = {"uid": "1", "kind": about, "name": "demo", "operation": "InterpretHealth", "object": obj}
        answer = {"successful": False, "status": {"code": 404}}
        recorded._replay(RecordedCall({"request": asked}, answer, DEFAULT_OPTIONS))

    findings = recorded.findings
    yield Fed(push, lambda: sum(len(gvk.kind) for gvk, _ in findings.asked), findings.left_out.total)


@feeder(
    "a list of karmada-apiserver that is kept whole",
    "definitions.sources.api_server:_MOST_LISTED",
    small=20 * TEXT,
    unit=TEXT,
)
def _listed(_: int) -> Iterator[Fed]:
    server = ApiServer("")
    pages = server.pages("/apis/run.ai/v1/kartas", most=api_server._MOST_LISTED)
    yield from _paged(server, pages, [])


@feeder(
    "a list of a member that verify reads, and of Karmada that diff reads",
    "clusters.member:_MOST_LISTED",
    small=20 * TEXT,
    unit=TEXT,
)
def _member_pods(_: int) -> Iterator[Fed]:
    server = ApiServer("")
    read = Member(server, _resources={"v1": {"Pod": {"kind": "Pod", "name": "pods", "namespaced": True}}})
    yield from _paged(server, read.read_objects(GVK("", "v1", "Pod")), read.problems)


@feeder("objects of a list of an API server", "definitions.sources.api_server:_MOST_OBJECTS", small=20)
def _listed_objects(_: int) -> Iterator[Fed]:
    server = ApiServer("")
    for fed in _paged(server, server.pages("/apis/run.ai/v1/kartas"), []):
        yield Fed(fed.push, partial(_objects, fed), fed.lost)


def _objects(fed: Fed) -> int:
    return fed.held() // TEXT


@feeder("owners of an object that verify and tree read", "clusters.member:_MOST_OWNERS", small=20)
def _owners(_: int) -> Iterator[Fed]:
    tree, left_out = Tree(), list[int]()

    def push(text: str) -> None:
        left_out[:] = [sum(left_out) + (not tree._shows("pod", text))]

    yield Fed(push, lambda: len(tree._shown["pod"]), lambda: sum(left_out))


@feeder("bindings that diff reads", "clusters.bindings:_MOST_BINDINGS", small=20)
def _bindings(_: int) -> Iterator[Fed]:
    read, numbers = bindings.Bindings(), count()
    resource = {"apiVersion": "example.io/v1", "kind": "Mill", "name": "demo"}

    def push(_: str) -> None:
        read._keep(bindings._BINDINGS[0], {"metadata": {"uid": str(next(numbers))}, "spec": {"resource": resource}})

    yield Fed(push, lambda: sum(map(len, read.kinds.values())), lambda: len(read.problems))


@feeder("refused bindings and Works that diff and unregister name", "clusters.bindings:MOST_NAMED", small=20)
def _refused_bindings(_: int) -> Iterator[Fed]:
    read = bindings.Bindings()

    def push(text: str) -> None:
        resource = {"apiVersion": "example.io/v1", "kind": "Mill", "namespace": "elsewhere", "name": text}
        read._keep(bindings._BINDINGS[0], {"metadata": {"namespace": "team"}, "spec": {"resource": resource}})

    yield Fed(push, lambda: len(read.problems), lambda: read._refused - len(read.problems))


@feeder("differences that diff shows", "engine.comparison.bindings:_MOST_KEPT", small=20 * TEXT, unit=TEXT)
def _differences(_: int) -> Iterator[Fed]:
    compared, pushed = Comparison(lambda _: None, Interpreters(), DEFAULT_OPTIONS), count(1)

    def push(text: str) -> None:
        next(pushed)
        changed = Difference(("replica",), 0, text[200:])  # the row has more than that
        compared._keep(Change(GVK("example.io", "v1", "Mill"), "demo", differences=(changed,)))

    def left_out() -> int:
        return next(pushed) - 1 - len(compared.changes)

    yield Fed(push, lambda: len(compared.changes) * TEXT, left_out)


def _paged(server: ApiServer, listed: AsyncIterator[Any], refused: list[str]) -> Iterator[Fed]:
    texts, objects, tokens = list[str](), list[Any](), count()

    @asynccontextmanager
    async def answer(request: Any) -> AsyncIterator[Any]:
        name = f"{next(tokens):06}"
        obj = {"metadata": {"name": name, "uid": name, "annotations": {"text": texts.pop()[200:]}}}
        yield request, {"metadata": {"continue": name}, "items": [obj]}

    async def read(_: object, page: Any, __: int) -> bytes:
        return orjson.dumps(page)

    def push(text: str) -> None:
        texts[:] = [text]
        try:
            listed.__anext__().__await__().__next__()
        except StopAsyncIteration:
            return
        except StopIteration as page:
            objects.append(page.value)
        except ClusterError as error:
            refused.append(error.reason)

    with mock.patch.object(server, "_answer", answer), mock.patch.object(api_server, "_read", read):
        yield Fed(push, lambda: len(objects) * TEXT, lambda: len(refused))


@feeder("a workload of a folder that verify reads", "clusters.saved:_LONGEST", small=20 * TEXT, unit=TEXT)
def _saved_workload(_: int) -> Iterator[Fed]:
    yield from _saved(b"", max)


@feeder(
    "keys and values of a workload of a folder that verify reads", "clusters.saved:_MOST_VALUES", small=200, unit=10
)
def _saved_values(_: int) -> Iterator[Fed]:
    values = b"," * 9
    yield from _saved(values, lambda lengths: 1 + max(lengths) // TEXT * len(values))


@feeder("workloads of a folder that verify reads", "clusters.saved:_MOST", small=20 * TEXT, unit=TEXT)
def _saved_workloads(_: int) -> Iterator[Fed]:
    yield from _saved(b"\n", sum)


def _saved(end: bytes, held: Callable[[Iterable[int]], int]) -> Iterator[Fed]:
    """Feed texts with that end. What is held is this function of the lengths of the lines."""
    with TemporaryDirectory() as name:
        path = Path(name) / "workloads.jsonl.gz"
        path.write_bytes(gzip.compress(b"{}\n"))

        def push(text: str) -> None:
            with path.open("ab") as file:
                file.write(gzip.compress(text[4:].encode() + end))

        def read() -> tuple[list[int], str]:
            lengths, problem = list[int](), ""
            with (
                mock.patch.object(Evidence, "of", lambda length, *_: lengths.append(length)),
                mock.patch("orjson.loads", len),
            ):
                try:
                    deque(saved.read_workloads(Path(name), saved.Saved(0)))
                except RecordingError as error:
                    problem = str(error)
            return lengths, problem

        yield Fed(push, lambda: held(read()[0]), lambda: "the rest is not read" in read()[1])
