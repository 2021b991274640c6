"""Judges Kartas in child processes, which the event loop awaits: a client may send any body.

The children run this file, too (`start`).
"""

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import orjson
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from karta_interpreter.base.errors import SandboxError
from karta_interpreter.base.findings import PLACES, Finding, Severity, did_you_mean, error
from karta_interpreter.base.k8s import GVK, JSON, Object, Path, edit, field_path, json_pointer
from karta_interpreter.base.sandbox.awaiting import AsyncPool
from karta_interpreter.base.sandbox.child import Answer, Channel
from karta_interpreter.definitions.karta import ROOT_KIND, gvk_of, kinds_of
from karta_interpreter.definitions.karta.loading import load_object
from karta_interpreter.definitions.karta.schema import message_of
from karta_interpreter.definitions.openapi.check import object_contradictions
from karta_interpreter.definitions.sources import decode
from karta_interpreter.web.console.questions import ANSWER, FAILURE, processes, responding
from karta_interpreter.web.types_api.models import (
    MOST_ERRORS,
    ApiError,
    FindingOutput,
    Judged,
    ProblemDetails,
    ProblemError,
    WorkloadType,
    WorkloadTypeInput,
    unavailable,
)
from karta_interpreter.web.types_api.records import StoredType, names_of

_FORMS: Final = {
    "name": "must be a kind such as RayCluster: a capital letter, then letters and digits, 63 in all",
    "group": "must be an API group such as ray.io, in small letters, or empty for core kinds",
}
_HINTS: Final = {
    "categoryId": "/workload-categories lists the ids",
    "priorityId": "/workload-priorities lists the ids",
    "name": "the kind of the workloads, such as RayCluster",
    "group": 'its API group, such as ray.io, or "" for core kinds',
    "resourceInterfaces": "a list with a Karta for each version of the kind",
}
# Levels of nesting in a body. `json` reads at most 1,000 in Python 3.11 and many more in 3.13.
_DEEPEST: Final = 800
# The metadata of a Karta that its author writes.
_KEPT: Final = {"name", "labels", "annotations"}
_ANSWERED: Final = {field.alias for field in WorkloadType.model_fields.values()}


def read(body: bytes) -> WorkloadTypeInput:
    """Read a body. Raises ApiError: 400 if it is not JSON, 422 if it is another object."""
    try:
        value = orjson.loads(body)
        if _is_too_deep(value):
            raise ApiError(400, "the body is nested too deeply")
        json.loads(body, object_pairs_hook=_check_names)
    except orjson.JSONDecodeError as err:
        reason = decode(body)[1] if body.strip() else "it is empty"
        raise ApiError(400, f"the body is not JSON: {reason or err}") from err
    try:
        return WorkloadTypeInput.model_validate(value)
    except ValidationError as err:
        details = err.errors(include_url=False)
        errors = [_problem(problem) for problem in details[:MOST_ERRORS]]
        message = "the body is not as openapi.json describes it"
        raise ApiError(422, message, errors=errors, total=len(details)) from err


def _is_too_deep(value: JSON) -> bool:
    level: list[JSON] = [value]
    for _ in range(_DEEPEST):
        level = [part for each in level for part in _parts(each)]
        if not level:
            return False
    return True


def _parts(value: JSON) -> Iterable[JSON]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _check_names(pairs: list[tuple[str, Any]]) -> None:
    """Raise ApiError if an object has a name twice: all values but the last would be lost."""
    for name, times in Counter(name for name, _ in pairs).most_common(1):
        if times > 1:
            raise ApiError(400, f'an object of the body has "{name}" {times} times: write it once')


def _problem(problem: ErrorDetails) -> ProblemError:
    pointer, field = json_pointer(problem["loc"]), problem["loc"][-1] if problem["loc"] else ""
    rule, detail, hint = "schema", message_of(problem), _HINTS.get(str(field))
    if problem["type"] == "extra_forbidden":
        rule, hint = "unknown-field", "only answers have it: leave it out"
        if field not in _ANSWERED:
            fields = (known.alias or name for name, known in WorkloadTypeInput.model_fields.items())
            hint = did_you_mean(str(field), fields)
    elif problem["type"].startswith("string_") and field in _FORMS:
        detail, hint = _FORMS[field], None
    return ProblemError(pointer=pointer, detail=detail, rule=rule, severity="error", hint=hint)


def judge(body: bytes) -> bytes:
    """Judge a `WorkloadTypeInput`: a `Judged` as JSON, a line break, and the Kartas of each version to be stored."""
    submitted = read(body)
    kartas = [_with_name(karta) for karta in submitted.resource_interfaces]
    kinds = list(map(kinds_of, kartas))
    findings = list[tuple[int, Finding]]()
    for index, karta in enumerate(kartas):
        findings += [(index, finding) for finding in _findings(karta, submitted)]
    findings.sort(key=lambda located: located[1].severity)  # errors first
    errors = sum(finding.severity is Severity.ERROR for _, finding in findings)
    judged = Judged(
        **submitted.model_dump(exclude={"resource_interfaces"}),
        kinds=kinds,
        findings=[FindingOutput.of(*located) for located in findings[:MOST_ERRORS]],
        findings_total=len(findings),
        errors_total=errors,
    )
    stored = StoredType.new(
        submitted.group, submitted.name, submitted.category_id, submitted.priority_id, () if errors else kartas
    )
    return judged.model_dump_json().encode() + b"\n" + orjson.dumps(stored.kartas)


def _findings(karta: Object, submitted: WorkloadTypeInput) -> Iterator[Finding]:
    yield from load_object(karta, "").findings
    yield from object_contradictions(karta)
    if gvks := kinds_of(karta):  # other objects have other fields
        yield from _not_stored(karta)
        yield from _other_kinds(gvks[0], submitted)


def _not_stored(karta: Object) -> Iterator[Finding]:
    paths, metadata = list[Path](), karta.get("metadata")
    if isinstance(metadata, dict):
        paths += [("metadata", field) for field in sorted(metadata.keys() - _KEPT)]
    paths += [(field,) for field in sorted(karta.keys() - {"apiVersion", "kind", "metadata", "spec"})]
    for path in paths:
        if edit.get(karta, path):
            hint = "the header If-Match with the ETag of the type is the condition" if "resourceVersion" in path else ""
            yield error("not-stored", path, f"a type does not keep {field_path(path)}: leave it out", hint)


def _other_kinds(kind: GVK, submitted: WorkloadTypeInput) -> Iterator[Finding]:
    for field, defined, expected in (("group", kind.group, submitted.group), ("kind", kind.kind, submitted.name)):
        if defined != expected:
            message = f'the Karta defines the {field} "{defined}", but the workload type is for "{expected}"'
            yield error("other-kind", (*ROOT_KIND, field), message)


def _with_name(karta: Object) -> Object:
    """Return a Karta with the name for its storage. A Karta without a kind keeps its own name, if any."""
    gvk, metadata = gvk_of(karta), karta.get("metadata", {})
    if gvk is None or not isinstance(metadata, dict):
        return karta
    return {**karta, "metadata": {**metadata, "name": names_of(gvk)[0]}}


# A `WorkloadTypeInput` as it came. The answer is the output of `judge`.
_JUDGE: Final = b"J"
# A `ProblemDetails`: the body is wrong.
_PROBLEM: Final = b"P"


def start() -> Answer:
    """Return the function that answers requests with JSON. Messages name what clients have."""
    PLACES["object"] = "to /interpret of `karta-interpreter serve`, as request.object"
    return responding(_find)


def _find(_channel: Channel, _letter: bytes, payload: bytes) -> tuple[bytes, bytes]:
    try:
        return ANSWER, judge(payload)
    except ApiError as error:
        return _PROBLEM, error.problem.model_dump_json().encode()


_IDLE_SECONDS: Final = 30.0


class Judge:
    """Asks the processes. Raises ApiError if something cannot be judged, 422 if the body is the cause.

    ``seconds`` limits the time of a request, including the start of a process.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.pool: Final = processes(__file__, _IDLE_SECONDS)
        self._awaited = AsyncPool(self.pool)

    async def judged(self, body: bytes, user: str) -> tuple[Judged, bytes]:
        """Return the content of a user's body about a type, and the Kartas to store as JSON."""
        end = time.monotonic() + self.seconds
        try:
            # Its user owns the process, and other users do not wait for it.
            async with self._awaited.process(user, self.seconds) as (process, _):
                # Waiting for a process took a part of the time. Never 0, which would be no deadline to ask under.
                await process.send(_JUDGE, body, max(end - time.monotonic(), 0.001))
                reply, answer = await process.receive()
        except SandboxError as error:
            if error.is_of_request:
                raise ApiError(422, f"the body cannot be judged: {error}") from error
            raise unavailable(f"no process can judge the body: {error}", seconds=1) from error
        if reply == _PROBLEM:
            problem = ProblemDetails.model_validate_json(answer)
            raise ApiError(problem.status, problem.detail, errors=problem.errors or (), total=problem.errors_total or 0)
        if reply == FAILURE:
            raise ApiError(422, f"the body cannot be judged: {answer.decode()}")
        head, _, kartas = answer.partition(b"\n")
        return Judged.model_validate_json(head), kartas

    def close(self) -> None:
        """End the processes."""
        self.pool.close()
