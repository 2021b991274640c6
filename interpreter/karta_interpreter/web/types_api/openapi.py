"""The OpenAPI 3.1 document: bodies from the pydantic models, paths and answers from the tables below."""

from functools import lru_cache
from http import HTTPStatus
from typing import Final, NamedTuple

import orjson
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from karta_interpreter import __version__
from karta_interpreter.base.k8s import Object
from karta_interpreter.web.types_api import models
from karta_interpreter.web.types_api.listing import ListParameters
from karta_interpreter.web.types_api.records import type_id

_RETRIED: Final = {429, 503}
_ALWAYS: Final = (400, 401, 403, 429, 503)
_OF_A_BODY: Final = (413, 415, 422)
_ETAG: Final = {"ETag": {"description": "Changes with the content of the type.", "schema": {"type": "string"}}}
_LOCATION: Final = {"Location": {"description": "The path of the type.", "schema": {"type": "string"}}}


ROOT: Final = "/api/v1"
TYPES: Final = "/workload-types"


class _Operation(NamedTuple):
    """One method of a path. ``answers`` has the model of each good status."""

    method: str
    path: str
    name: str
    summary: str
    answers: dict[int, type[BaseModel] | None]
    problems: tuple[int, ...] = ()
    body: type[BaseModel] | None = None

    @property
    def parameters(self) -> list[Object]:
        """The parameters of the query, the path and the headers."""
        paging = _PAGING if self.name == "listTypes" else ()
        conditions = _CONDITIONS if self.method in ("put", "delete") else ()
        ids = [_ID] if "{id}" in self.path else []
        return [*paging, *ids, *conditions]


_PAGING: Final[tuple[Object, ...]] = tuple(
    {"name": name, "in": "query", "description": schema.pop("description"), "schema": schema}
    for name, schema in ListParameters.model_json_schema()["properties"].items()
)
_ID: Final = {
    "name": "id",
    "in": "path",
    "required": True,
    "description": "The id of a workload type.",
    "schema": {"type": "string", "format": "uuid", "examples": [type_id("example.org", "Bakery")]},
}
_CONDITIONS: Final[tuple[Object, ...]] = tuple(
    {"name": name, "in": "header", "description": description, "schema": {"type": "string", "pattern": pattern}}
    for name, description, pattern in (
        ("If-Match", "Change the type only if it still has this entity tag.", r'^(\*|"[!#-~]*")$'),
        ("If-None-Match", "Change the type only if it does not have this entity tag.", r'^(\*|(W/)?"[!#-~]*")$'),
    )
)
_EXAMPLE: Final = {
    "categoryId": "",
    "priorityId": "",
    "name": "Bakery",
    "group": "example.org",
    "resourceInterfaces": [
        {
            "apiVersion": "run.ai/v1alpha1",
            "kind": "Karta",
            "spec": {
                "structureDefinition": {
                    "rootComponent": {
                        "name": "bakery",
                        "kind": {"group": "example.org", "version": "v1", "kind": "Bakery"},
                        "specDefinition": {"podTemplateSpecPath": ".spec.template"},
                        "scaleDefinition": {"replicasPath": ".spec.ovens"},
                        "statusDefinition": {
                            "phaseDefinition": {"path": ".status.phase"},
                            "statusMappings": {"running": [{"byPhase": "Baking"}]},
                        },
                    }
                }
            },
        }
    ],
}
_LINKS: Final = {
    name: {"operationId": name, "parameters": {"id": "$response.body#/id"}}
    for name in ("getType", "replaceType", "deleteType")
}
_ONE: Final = f"{TYPES}/{{id}}"
_TYPE, _INPUT = models.WorkloadType, models.WorkloadTypeInput
OPERATIONS: Final = (
    _Operation("get", TYPES, "listTypes", "List types", {200: models.WorkloadTypes}),
    _Operation(
        "post",
        TYPES,
        "createType",
        "Register a type; 200 where it is registered with the same content already",
        {200: _TYPE, 201: _TYPE},
        (409, 412),
        _INPUT,
    ),
    _Operation(
        "post",
        f"{TYPES}:validate",
        "validateType",
        "Judge a type and store nothing",
        {200: models.Validation},
        body=_INPUT,
    ),
    _Operation("get", _ONE, "getType", "Get a type", {200: _TYPE}, (404,)),
    _Operation("put", _ONE, "replaceType", "Replace a type", {200: _TYPE}, (404, 409, 412), _INPUT),
    _Operation("delete", _ONE, "deleteType", "Delete a type", {204: None}, (400, 404, 409, 412)),
    _Operation("get", "/workload-categories", "listCategories", "List categories", {200: models.Categories}),
    _Operation("get", "/workload-priorities", "listPriorities", "List priorities", {200: models.Priorities}),
    _Operation("get", "/openapi.json", "describe", "Get this document", {200: None}),
)


@lru_cache(maxsize=1)
def document(choices: models.Choices) -> bytes:
    """Return the document as JSON, with the available ids of categories and priorities.

    It is made on request, so that a server without requests for it starts without it.
    """
    paths: dict[str, dict[str, Object]] = {}
    bodies: list[type[BaseModel]] = [models.ProblemDetails]
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _described(operation)
        bodies += [model for model in (operation.body, *operation.answers.values()) if model]
    _, schemas = models_json_schema(
        [(model, "validation" if model is _INPUT else "serialization") for model in dict.fromkeys(bodies)],
        by_alias=True,
        ref_template="#/components/schemas/{model}",
    )
    body_schema = schemas["$defs"][_INPUT.__name__]
    fields = body_schema["properties"]
    fields["categoryId"] |= {"enum": [*choices.categories], "examples": [*choices.categories][:1]}
    fields["priorityId"] |= {"enum": [*choices.priorities], "examples": [*choices.priorities][:1]}
    body_schema["examples"] = [
        _EXAMPLE | {field: fields[field]["examples"][0] for field in ("categoryId", "priorityId")}
    ]
    return orjson.dumps(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "karta-interpreter workload types",
                "version": __version__,
                "description": "Registers types of workloads, which are stored as Kartas and answer Karmada at once.",
                "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            },
            "servers": [{"url": ROOT}],
            "security": [{"token": []}],
            "paths": paths,
            "components": {
                "schemas": schemas["$defs"],
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
        }
    )


def _described(operation: _Operation) -> Object:
    statuses = {*_ALWAYS, *operation.problems, *(_OF_A_BODY if operation.body else ())}
    answers: dict[str, Object] = {}
    for status, model in operation.answers.items():
        answer: dict[str, Object] = {}
        if model is models.WorkloadType:
            answer["headers"] = _ETAG
        if status == HTTPStatus.CREATED:
            answer["headers"] = {**answer.get("headers", {}), **_LOCATION}
        if operation.name == "describe":
            answer["content"] = {"application/json": {"schema": {"type": "object"}}}
        elif model:
            answer["content"] = _json(model)
        if model is models.WorkloadType and operation.name == "createType":
            answer["links"] = _LINKS
        answers[str(status)] = {"description": operation.summary, **answer}
    later = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}
    for status in sorted(statuses):
        answers[str(status)] = {
            "description": models.PROBLEMS[status][2],
            **({"headers": later} if status in _RETRIED else {}),
            "content": {models.CONTENT_TYPE: {"schema": _reference(models.ProblemDetails)}},
        }
    body = {"requestBody": {"required": True, "content": _json(operation.body)}} if operation.body else {}
    parameters = {"parameters": operation.parameters} if operation.parameters else {}
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        **parameters,
        **body,
        "responses": answers,
    }


def _json(model: type[BaseModel]) -> Object:
    return {"application/json": {"schema": _reference(model)}}


def _reference(model: type[BaseModel]) -> Object:
    return {"$ref": f"#/components/schemas/{model.__name__}"}
