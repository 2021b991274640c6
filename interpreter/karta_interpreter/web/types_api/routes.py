"""The operations of this API, one handler each."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from http import HTTPStatus
from typing import Final

import orjson
from aiohttp import ETag
from aiohttp.hdrs import IF_MATCH, IF_NONE_MATCH
from aiohttp.typedefs import Handler
from aiohttp.web import Request, Response
from msgspec import Struct

from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import json_pointer
from karta_interpreter.definitions.karta import ROOT_KIND
from karta_interpreter.definitions.sources import Store
from karta_interpreter.web.types_api import models
from karta_interpreter.web.types_api.application import ABOUT, USER, json_response, read
from karta_interpreter.web.types_api.judge import Judge
from karta_interpreter.web.types_api.listing import ListQuery
from karta_interpreter.web.types_api.openapi import ROOT, TYPES, document
from karta_interpreter.web.types_api.records import StoredType
from karta_interpreter.web.types_api.view import API, Row, Storage, View
from karta_interpreter.webhook.log import log

_LOOK_SECONDS: Final = 0.01
_LETTERS: Final = {
    "etag",
    "ifmatch",
    "ifnonematch",
    "ifunmodifiedsince",
    "ifmodifiedsince",
    "ifrange",
}  # of headers that a client may take for a condition


class Routes(Struct, frozen=True):
    """The handlers, and the objects that they work with."""

    store: Store
    storage: Storage
    view: View
    judge: Judge
    choices: models.Choices

    def handlers(self) -> dict[str, Handler]:
        """Return the handler of every operation of the description."""
        return {
            "listTypes": self.list_types,
            "createType": self.create,
            "validateType": self.validate,
            "getType": self.get,
            "replaceType": self.replace,
            "deleteType": self.delete,
            "listCategories": self.categories,
            "listPriorities": self.priorities,
            "describe": self.openapi,
        }

    async def list_types(self, request: Request) -> Response:
        """Return a page of the types."""
        rows = (await self.view.rows()).values()
        listing = ListQuery.of(request.query.items(), self.choices, {row.source for row in rows})
        return json_response(await asyncio.to_thread(listing.page, rows, lambda row: row.encoded(self.choices)))

    async def get(self, request: Request) -> Response:
        """Return one type."""
        return await self._sent(await self._row(request))

    async def create(self, request: Request) -> Response:
        """Register a type. The same request again changes nothing."""
        desired = await self._wanted(request)
        async with self.storage.exclusive():
            present = await self._present(desired.group, desired.kind, desired.kartas.keys())
            if present:
                _check(present, request)
            # A registration that was cut off is completed by the same request, and is not a conflict.
            is_new = present is None or (
                present.kartas.keys() < desired.kartas.keys() and present.revisions == desired.revisions
            )
            if present and not is_new and not present.equals(desired):
                raise models.ApiError(
                    409, f"{desired.kind} of {desired.group} is registered with another content: PUT changes it"
                )
            stored = await self.storage.write(desired, present) if is_new or not present else present
        return await self._stored(stored, 201 if is_new else 200)

    async def replace(self, request: Request) -> Response:
        """Replace a type that is registered."""
        row = await self._row(request)
        desired = await self._wanted(request, row)
        async with self.storage.exclusive():
            present = self._required(row, await self._present(row.group, row.name, desired.kartas.keys()))
            _check(present, request)
            # A change that was cut off has the content, but several revisions, until it is written again.
            is_same = present.etag == desired.etag and present.revisions == desired.revisions
            stored = present if is_same else await self.storage.write(desired, present)
        return await self._stored(stored, 200)

    async def delete(self, request: Request) -> Response:
        """Delete a type that is registered."""
        row = await self._row(request)
        async with self.storage.exclusive():
            present = self._required(row, await self._present(row.group, row.name, ()))
            _check(present, request)
            await self.storage.delete(present)
        await self._until(lambda now: now is None or now.source != API, row.id)
        return Response(status=204)

    async def validate(self, request: Request) -> Response:
        """Judge a type as `create` does, and store nothing."""
        judged, _ = await self._judged(request)
        return json_response(models.Validation(findings=judged.findings, findings_total=judged.findings_total))

    async def categories(self, _: Request) -> Response:
        """Return the categories."""
        return json_response(models.Categories(categories=[*self.choices.categories.values()]))

    async def priorities(self, _: Request) -> Response:
        """Return the priorities."""
        return json_response(models.Priorities(priorities=[*self.choices.priorities.values()]))

    async def openapi(self, _: Request) -> Response:
        """Return the description of this API."""
        return Response(body=document(self.choices), content_type="application/json")

    async def _wanted(self, request: Request, row: Row | None = None) -> StoredType:
        """Return the type in a body, as it will be stored. Raises ApiError."""
        judged, kartas = await self._judged(request, row)
        return StoredType(judged.group, judged.name, await asyncio.to_thread(orjson.loads, kartas))

    async def _judged(self, request: Request, row: Row | None = None) -> tuple[models.Judged, bytes]:
        """Return the content of a body about a type, and its Kartas as JSON. Raises ApiError for an error finding."""
        judged, kartas = await self.judge.judged(await read(request), request.match_info[USER])
        request.match_info[ABOUT] = f"{judged.name}.{judged.group}"
        more_findings = [*self._more_findings(judged, row)]
        if errors := judged.errors_total + len(more_findings):
            findings = sorted((*judged.findings, *more_findings), key=lambda finding: finding.severity)  # errors first
            raise models.invalid(findings, errors, judged.findings_total + len(more_findings))
        return judged, kartas

    def _more_findings(self, body: models.Judged, row: Row | None) -> Iterator[models.FindingOutput]:
        for field, value, choice_ids in (
            ("categoryId", body.category_id, self.choices.categories),
            ("priorityId", body.priority_id, self.choices.priorities),
        ):
            if value not in choice_ids:
                yield _error(f"/{field}", "unknown-id", f'there is no id "{value}"; {did_you_mean(value, choice_ids)}')
        for field, value, expected in (("name", body.name, row and row.name), ("group", body.group, row and row.group)):
            if row and value != expected:
                yield _error(
                    f"/{field}",
                    "other-type",
                    f'the type of this path has "{expected}", which cannot change: register another type',
                )
        described = [(index, gvk) for index, gvks in enumerate(body.kinds) for gvk in gvks]
        for index, gvk in described:
            pointer = json_pointer(("resourceInterfaces", index, *ROOT_KIND))
            if any(gvk in gvks for gvks in body.kinds[:index]):
                yield _error(
                    f"{pointer}/version",
                    "duplicate-kind",
                    f"{gvk} has a Karta above already: one is for each version",
                )
            if not self.store.takes(gvk):
                yield _error(pointer, "kind-left-out", f"this server leaves out {gvk} (--kinds, --without)")

    async def _row(self, request: Request) -> Row:
        name = request.match_info["id"].lower()
        row = await self.view.find(name)
        if row is None:
            ids = [
                other.id
                for other in (await self.view.rows()).values()
                if name in (other.name.lower(), f"{other.name}.{other.group}".lower())
            ]
            where = f"the type of this name has the id {' or '.join(ids)}" if ids else f"{ROOT}{TYPES} lists the ids"
            raise models.ApiError(404, f"there is no workload type with this id; {where}")
        request.match_info[ABOUT] = f"{row.name}.{row.group}"
        return row

    async def _present(self, group: str, kind: str, versions: Collection[str]) -> StoredType | None:
        """Return the type as it is stored. Raises ApiError if the kind has another owner at that place."""
        if holder := await self.view.holder(group, kind, versions):
            raise models.owned(holder, f"{kind} of {group or 'the core group'}")
        return await self.storage.read(group, kind)

    @staticmethod
    def _required(row: Row, present: StoredType | None) -> StoredType:
        if present is None:
            raise (
                models.owned(row.owner, f"{row.name} of {row.group or 'the core group'}")
                if row.owner
                else models.ApiError(404, "the workload type was deleted meanwhile")
            )
        return present

    async def _stored(self, stored: StoredType, status: int) -> Response:
        """Return the answer with a type, once this program has seen it. Servers see it by themselves."""
        await self._until(lambda now: now is not None and now.etag == stored.etag, stored.id)
        row = await self.view.find(stored.id)
        if row is None:
            raise models.unavailable("the type is stored, but is not listed yet", seconds=1)
        return await self._sent(row, status, f"{ROOT}{TYPES}/{stored.id}" if status == HTTPStatus.CREATED else "")

    async def _sent(self, row: Row, status: int = 200, location: str = "") -> Response:
        body, etag = await asyncio.to_thread(lambda: (row.encoded(self.choices), row.etag))
        return json_response(body, status, etag=etag, location=location)

    async def _until(self, holds: Callable[[Row | None], bool], key: str) -> None:
        """Wait until this program has seen a change. The watch of a cluster takes milliseconds."""
        try:
            async with asyncio.timeout(self.judge.seconds):
                while not holds(await self.view.find(key)):  # noqa: ASYNC110 - sources have no event for it
                    await asyncio.sleep(_LOOK_SECONDS)
        except TimeoutError:
            log.warning("a change of a workload type is stored, but not listed yet", id=key)


def _error(pointer: str, rule: str, message: str) -> models.FindingOutput:
    return models.FindingOutput(severity="error", rule=rule, pointer=pointer, detail=message)


def _check(present: StoredType, request: Request) -> None:
    """Raise ApiError if the headers of a change have a condition that the type does not meet."""
    names = {name.lower() for name in request.headers} - {IF_MATCH.lower(), IF_NONE_MATCH.lower()}
    if misspelt := [name for name in names if name.replace("_", "").replace("-", "") in _LETTERS]:
        raise models.ApiError(400, f"the header {misspelt[0]} is not a condition of a change: write {IF_MATCH}")
    if (tags := _tags(request, IF_MATCH, request.if_match)) and tags.isdisjoint({"*", present.etag}):
        raise models.ApiError(
            412,
            f'If-Match does not have the entity tag of the type, "{present.etag}" without W/: read it and try again',
        )
    # A weak tag is the same tag here (RFC 9110).
    if not _tags(request, IF_NONE_MATCH, request.if_none_match).isdisjoint({"*", present.etag, f"W/{present.etag}"}):
        raise models.ApiError(412, "If-None-Match has * or the entity tag of the type, which is there: leave it out")


def _tags(request: Request, header: str, tags: Sequence[ETag] | None) -> frozenset[str]:
    """Return the entity tags of a condition, "*" for any, and none without the header. Weak tags begin with W/."""
    if header in request.headers and not tags:
        raise models.ApiError(400, f'{header} takes entity tags in quotes, as in {header}: "0123"')
    return frozenset(f"{'W/' * tag.is_weak}{tag.value}" for tag in tags or ())
