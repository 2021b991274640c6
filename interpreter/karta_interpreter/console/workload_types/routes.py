"""The operations of this API, one handler each."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response

from karta_interpreter.console.workload_types import models
from karta_interpreter.console.workload_types.edge import Asked, Handler, Route, read, sent
from karta_interpreter.console.workload_types.judge import Judge
from karta_interpreter.console.workload_types.listing import Listing
from karta_interpreter.console.workload_types.models import (
    ApiError,
    Choices,
    FindingOutput,
    invalid,
    owned,
    unavailable,
)
from karta_interpreter.console.workload_types.openapi import OPERATIONS, ROOT, TYPES, document
from karta_interpreter.console.workload_types.records import Storage, StoredType, karta_name
from karta_interpreter.console.workload_types.view import API, Row, View
from karta_interpreter.errors import InterpretationError
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object, json_pointer
from karta_interpreter.karta.schema import gvk_of
from karta_interpreter.karta.schema_types import ROOT_KIND
from karta_interpreter.operations import Options
from karta_interpreter.server.log import log
from karta_interpreter.sources.store import Store

_LOOK_SECONDS: Final = 0.01


@dataclass(frozen=True, slots=True)
class Routes:
    """The handlers, and what they work with."""

    store: Store
    storage: Storage
    view: View
    judge: Judge
    choices: Choices
    options: Options
    body_limit: int

    def table(self) -> Sequence[Route]:
        """Every operation of the description, with the verb of RBAC that it needs."""
        handlers: dict[str, tuple[str, Handler]] = {
            "listTypes": ("list", self.list_types),
            "createType": ("create", self.create),
            # What stores nothing needs the right to read, although it is a POST.
            "validateType": ("list", self.validate),
            "getType": ("get", self.get),
            "replaceType": ("update", self.replace),
            "deleteType": ("delete", self.delete),
            "interpret": ("get", self.interpret),
            "listCategories": ("list", self.categories),
            "listPriorities": ("list", self.priorities),
            "describe": ("list", self.openapi),
        }
        return [Route.of(each.method.upper(), f"{ROOT}{each.path}", *handlers[each.name]) for each in OPERATIONS]

    async def list_types(self, asked: Asked) -> Response:
        """A page of the types."""
        listing = Listing.of(asked.request.query.items())
        rows, total = listing.page((await self.view.rows()).values())
        types = [row.output(self.choices) for row in rows]
        return sent(models.WorkloadTypes(types=types, total=total, offset=listing.offset, limit=listing.limit))

    async def get(self, asked: Asked) -> Response:
        """One type."""
        return self._sent(await self._row(asked))

    async def create(self, asked: Asked) -> Response:
        """Register a type; the same request again changes nothing."""
        wanted, _ = await self._judged(asked)
        async with self.storage.exclusive():
            present = await self._present(wanted.group, wanted.kind, wanted.kartas.keys())
            # A registration that was cut off is completed by the same request, and is no conflict.
            is_new = present is None or present.is_part_of(wanted)
            if present and not is_new and not present.equals(wanted):
                raise ApiError(
                    409, f"{wanted.kind} of {wanted.group} is registered with another content: PUT changes it"
                )
            stored = await self.storage.write(wanted, present) if is_new or not present else present
        return await self._stored(stored, 201 if is_new else 200)

    async def replace(self, asked: Asked) -> Response:
        """Replace a type that is registered."""
        row = await self._row(asked)
        matches = _if_match(asked.request)
        wanted, _ = await self._judged(asked, row)
        async with self.storage.exclusive():
            present = self._required(row, await self._present(row.group, row.name, wanted.kartas.keys()))
            _check(present, matches)
            # A change that was cut off has the content, but several revisions, until it is written again.
            is_same = present.etag == wanted.etag and present.revisions == wanted.revisions
            stored = present if is_same else await self.storage.write(wanted, present)
        return await self._stored(stored, 200)

    async def delete(self, asked: Asked) -> Response:
        """Delete a type that is registered."""
        row = await self._row(asked)
        matches = _if_match(asked.request)
        async with self.storage.exclusive():
            present = self._required(row, await self._present(row.group, row.name, ()))
            _check(present, matches)
            await self.storage.delete(present)
        await self._until(lambda now: now is None or now.source != API, row.id)
        return Response(status=204)

    async def validate(self, asked: Asked) -> Response:
        """Judge a type as `create` does, and store nothing."""
        _, findings = await self._judged(asked)
        return sent(models.Validation(findings=findings))

    async def interpret(self, asked: Asked) -> Response:
        """Answer all operations about an object of a type, each with its explanation."""
        row = await self._row(asked)
        body = await read(asked, models.Interpretation, self.body_limit)
        entry = self.store.snapshot.entries.get(_kind_of(body, row))
        if entry is None:
            versions = ", ".join(each.gvk.version for each in row.records)
            finding = _error("/object/apiVersion", "unknown-version", f"this version is not served; known: {versions}")
            raise invalid([finding], "the object cannot be interpreted")
        reader = self.store.reader
        found = await self.judge.explanations(entry.definition, reader, self.options, body, entry.origin)
        return sent(models.Explanations(explanations=[dict(each) for each in found]))

    async def categories(self, _: Asked) -> Response:
        """The categories."""
        return sent(models.Categories(categories=[*self.choices.categories.values()]))

    async def priorities(self, _: Asked) -> Response:
        """The priorities."""
        return sent(models.Priorities(priorities=[*self.choices.priorities.values()]))

    async def openapi(self, _: Asked) -> Response:
        """The description of this API."""
        return Response(body=document(self.choices), content_type="application/json")

    async def _judged(self, asked: Asked, row: Row | None = None) -> tuple[StoredType, list[FindingOutput]]:
        """The type in a body, and its warnings; raises ApiError with all findings where one is an error."""
        body = await read(asked, models.WorkloadTypeInput, self.body_limit)
        asked.about = f"{body.name}.{body.group}"
        kartas = [_with_name(karta) for karta in body.resource_interfaces]
        findings = await self.judge.findings(body.group, body.name, kartas)
        findings += self._more_findings(body, row)
        if any(each.severity == "error" for each in findings):
            raise invalid(findings)
        return StoredType.new(body.group, body.name, body.category_id, body.priority_id, kartas), findings

    def _more_findings(self, body: models.WorkloadTypeInput, row: Row | None) -> Sequence[FindingOutput]:
        choices, found = self.choices, []
        for field, given, known in (
            ("categoryId", body.category_id, choices.categories),
            ("priorityId", body.priority_id, choices.priorities),
        ):
            if given not in known:
                found.append(_error(f"/{field}", "unknown-id", f"there is no such id; there are {', '.join(known)}"))
        for field, given, wanted in (("name", body.name, row and row.name), ("group", body.group, row and row.group)):
            if row and given != wanted:
                message = f'the type of this path has "{wanted}", which cannot change: register another type'
                found.append(_error(f"/{field}", "other-type", message))
        seen: set[GVK] = set()
        for index, karta in enumerate(body.resource_interfaces):
            gvk, pointer = gvk_of(karta), json_pointer(("resourceInterfaces", index, *ROOT_KIND))
            if gvk in seen:
                found.append(_error(f"{pointer}/version", "duplicate-kind", f"{gvk} has a Karta above already"))
            if gvk and not self.store.takes(gvk):
                found.append(_error(pointer, "kind-left-out", f"this server leaves out {gvk} (--kinds, --without)"))
            seen |= {gvk} if gvk else set()
        return found

    async def _row(self, asked: Asked) -> Row:
        row = await self.view.find(asked.id)
        if row is None:
            raise ApiError(404, "there is no workload type with this id")
        asked.about = f"{row.name}.{row.group}"
        return row

    async def _present(self, group: str, kind: str, versions: Collection[str]) -> StoredType | None:
        """The type as it is stored; raises ApiError where the kind has another owner at that place."""
        if holder := await self.view.holder(group, kind, versions):
            raise owned(holder, f"{kind} of {group or 'the core group'}")
        return await self.storage.read(group, kind)

    @staticmethod
    def _required(row: Row, present: StoredType | None) -> StoredType:
        if present is None and row.owner:
            raise owned(row.owner, f"{row.name} of {row.group or 'the core group'}")
        if present is None:
            raise ApiError(404, "the workload type was deleted meanwhile")
        return present

    async def _stored(self, stored: StoredType, status: int) -> Response:
        """The answer with a type, once the server serves it."""
        etag = stored.etag
        await self._until(lambda now: now is not None and now.etag == etag, stored.id)
        row = await self.view.find(stored.id)
        if row is None:
            raise unavailable("the type is stored, but is not served yet", seconds=1)
        return self._sent(row, status, f"{ROOT}{TYPES}/{stored.id}" if status == HTTPStatus.CREATED else "")

    def _sent(self, row: Row, status: int = 200, location: str = "") -> Response:
        return sent(row.output(self.choices), status, etag=row.etag, location=location)

    async def _until(self, holds: Callable[[Row | None], bool], key: str) -> None:
        """Wait until the server has seen a change; the watch of a cluster takes milliseconds."""
        try:
            async with asyncio.timeout(self.judge.seconds):
                while not holds(await self.view.find(key)):  # noqa: ASYNC110 - sources have no event for it
                    await asyncio.sleep(_LOOK_SECONDS)
        except TimeoutError:
            log.warning("a change of a workload type is stored, but not served yet", id=key)


def _with_name(karta: Object) -> Object:
    """A Karta with the name that it is stored with; one without a kind keeps its own, if any."""
    gvk, metadata = gvk_of(karta), karta.get("metadata", {})
    if gvk is None or not isinstance(metadata, dict):
        return karta
    return {**karta, "metadata": {**metadata, "name": karta_name(gvk)}}


def _kind_of(asked: models.Interpretation, row: Row) -> GVK:
    """The kind of the object; raises ApiError where it is not of the type."""
    try:
        gvk = GVK.of(asked.object)
    except InterpretationError as error:
        raise invalid([_error("/object", "no-kind", str(error))], "the object cannot be interpreted") from error
    if (gvk.group, gvk.kind) != (row.group, row.name):
        message = f"the object is {gvk}, the workload type is {row.name} of {row.group or 'the core group'}"
        raise invalid([_error("/object/kind", "other-kind", message)], "the object cannot be interpreted")
    return gvk


def _error(pointer: str, rule: str, message: str) -> FindingOutput:
    return FindingOutput(severity="error", rule=rule, pointer=pointer, detail=message)


def _if_match(request: BaseRequest) -> frozenset[str] | None:
    """The entity tags that the client knows, "*" for any; None without a condition."""
    if "If-Match" not in request.headers:
        return None
    tags = request.if_match or ()
    if not tags:
        raise ApiError(400, 'If-Match takes entity tags in quotes, as in If-Match: "0123"')
    return frozenset(each.value for each in tags if not each.is_weak)


def _check(present: StoredType, matches: frozenset[str] | None) -> None:
    if matches is not None and "*" not in matches and present.etag not in matches:
        raise ApiError(412, f'the type has changed, its entity tag is "{present.etag}": read it and try again')
