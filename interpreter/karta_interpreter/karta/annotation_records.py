"""One record for each annotation: parsers, hints, schemas and the table in docs/authoring.md are derived from them."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from karta_interpreter.findings import Finding, error, warning
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta import annotation_parser as parsers
from karta_interpreter.karta.annotations import (
    OPERATIONS,
    PREFIX,
    AggregateRule,
    Annotations,
    AnnotationText,
    annotation_path,
)
from karta_interpreter.karta.model import Karta
from karta_interpreter.karta.status_rules import Status
from karta_interpreter.lua.script import SLOTS
from karta_interpreter.suggestion import closest

_TEXT: Final[Object] = {"type": "string"}
_JQ: Final[Object] = {"type": "string", "format": "jq"}
_LINK: Final = re.compile(r"\[([^]]+)\]\([^)]+\)")


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotation. There are no defaults, so that the type checker asks for every part of a new one.

    ``name`` is without the prefix. ``schema`` is the JSON Schema of the value: of the YAML for an object or a list,
        else of the text; a string of the format ``jq`` is an expression. ``form`` is the value in words,
    ``description`` the effect, both in Markdown with links relative to ``docs/``. ``example`` is a whole text.
    """

    name: str
    schema: Object
    form: str
    description: str
    example: str
    parse: Callable[[AnnotationText], object]

    @property
    def field(self) -> str:
        """The field of `Annotations` which ``parse`` gives the value for."""
        return self.name.replace("-", "_")

    @property
    def property_schema(self) -> Object:
        """The JSON Schema of the annotation in ``metadata.annotations``, where every value is a string."""
        text = _LINK.sub(r"\1", f"{self.description[0].upper()}{self.description[1:]}. Value: {self.form}.")
        described = {"type": "string", "description": text, "examples": [self.example]}
        if self.schema.get("type") == "string":
            return {**self.schema, **described}
        return {**described, "contentMediaType": "application/yaml", "contentSchema": self.schema}


def _names_of(names: Iterable[str]) -> Object:
    """Return the schema of a list of known names that are separated by commas."""
    name = f"({'|'.join(names)})"
    return {"type": "string", "pattern": rf"^[\s,]*{name}(\s*,[\s,]*{name})*[\s,]*$"}


def _fields_of(*required: str, **fields: Object) -> Object:
    return {"type": "object", "properties": fields, "required": [*required], "additionalProperties": False}


def _list_of(*entries: Object) -> Object:
    return {"type": "array", "items": {"anyOf": [*entries]}}


def _mapping_to(value: Object) -> Object:
    return {"type": "object", "additionalProperties": value}


_PLAIN: Final[tuple[Object, ...]] = ({"type": "array", "items": {}}, {"type": "number"}, {"type": "boolean"})
_UNSET = {"unset": _JQ, "by": _JQ, "if": _JQ, "value": _JQ}
_OBJECTS = {"apiVersion": _TEXT, "kind": _TEXT, "name": _JQ, "namespace": _JQ}

ANNOTATIONS: Final = (
    Annotation(
        name="elastic",
        schema=_TEXT,
        form="names of components, or of instances as `component/instance`, comma separated, or `none`",
        description=(
            "components and instances whose pods ReviseReplica may change; with `none` "
            "[the workload is not divided](operations.md#workloads-that-cannot-be-divided)"
        ),
        example="worker",
        parse=parsers.parse_elastic,
    ),
    Annotation(
        name="retain",
        schema={
            "anyOf": [_list_of(_JQ, _fields_of("unset", **_UNSET), _fields_of("quantities", quantities=_JQ)), _TEXT]
        },
        form=(
            "a YAML list of jq paths, or one per line, and of "
            "[rules for what the template leaves unset](#what-belongs-to-a-member)"
        ),
        description="paths that belong to the member cluster",
        example="- .spec.seed\n- {unset: .spec.containers, by: .name, if: .injected}\n- quantities: .spec.resources\n",
        parse=parsers.parse_retain,
    ),
    Annotation(
        name="queue-labels",
        schema=_TEXT,
        form="names of labels, comma separated, or `none`; by default `kueue.x-k8s.io/queue-name`",
        description=(
            "the labels of objects that [a queue of the member suspends and admits](operations.md#workloads-in-a-queue)"
        ),
        example="example.io/queue",
        parse=parsers.parse_queue_labels,
    ),
    Annotation(
        name="dependencies",
        schema=_list_of(
            _fields_of("apiVersion", "kind", "name", **_OBJECTS),
            _fields_of("pods", pods=_JQ),
            _fields_of("claims", claims=_JQ),
        ),
        form=(
            "a YAML list of `{apiVersion, kind, name, namespace}`; `name` and `namespace` are jq. Also `{pods: jq}`: "
            "more pod templates, or parts of them, and `{claims: jq}`: names of volumes in place of which the "
            "controller makes claims"
        ),
        description="objects that the workload needs beside those that its pods name, and those that it does not need",
        example=(
            "- {apiVersion: v1, kind: ConfigMap, name: .spec.config, namespace: .spec.team}\n"
            "- pods: .spec.sidecars[].template\n"
            "- claims: .spec.volumeClaimTemplates[].metadata.name\n"
        ),
        parse=parsers.parse_dependencies,
    ),
    Annotation(
        name="added-containers",
        schema=_mapping_to(_JQ),
        form=(
            "a YAML mapping of components to jq, which gives `{containers: […], initContainers: […]}` or nothing: "
            "[once for all instances, or once for each](#containers-that-an-operator-adds)"
        ),
        description=(
            "containers that the operator adds to the component's pods: they count in requests and dependencies, and "
            "the template stays the place where pods are changed"
        ),
        example="worker: '{containers: [.spec.proxy | select(.)]}'\n",
        parse=parsers.parse_added_containers,
    ),
    Annotation(
        name="aggregate",
        schema=_mapping_to({"enum": [str(rule) for rule in AggregateRule]}),
        form=(
            "a YAML mapping of paths such as `.status.pools[].peak` to `sum`, `counter` (a sum that never falls), "
            "`max`, `min`, `any`, `all`, `first`, `worst` (of the cluster with the worst status), `union` (the keys of "
            "all objects), `concat`, `latest`, `earliest`, `omit` (what the template has stays) or `drop` (it goes)"
        ),
        description=(
            "how a status field of several clusters becomes one; an `observedGeneration` that is omitted is not "
            "compared with the object's generation anywhere"
        ),
        example=".status.active: sum\n.status.pools[].peak: max\n",
        parse=parsers.parse_aggregate,
    ),
    Annotation(
        name="required-status",
        schema=_mapping_to({"anyOf": [_TEXT, {"type": "object", "additionalProperties": True}, *_PLAIN]}),
        form="a YAML mapping of paths such as `.status.driver` to values such as `{}`",
        description=(
            "the fields that [the CRD requires in a status](operations.md#what-the-crd-requires), each with its value "
            "where no cluster gives one; one in an object is added where the object is there"
        ),
        example=".status.driver: {}\n.status.driver.phase: Unknown\n",
        parse=parsers.parse_required_status,
    ),
    Annotation(
        name="outcomes",
        schema=_mapping_to(_TEXT),
        form=(
            "a YAML mapping of the conditions that end the workload for good to those that announce them: "
            "`Failed: FailureTarget`"
        ),
        description="when the whole has ended, [which the API server may check](operations.md#how-a-workload-ends)",
        example="Failed: FailureTarget\n",
        parse=parsers.parse_outcomes,
    ),
    Annotation(
        name="health",
        schema=_JQ,
        form="jq that yields true or false",
        description="replaces the status mapping for InterpretHealth",
        example=".status.ready == true",
        parse=lambda annotation: annotation.query(annotation.text),
    ),
    Annotation(
        name="healthy-statuses",
        schema=_names_of(Status),
        form="status names, comma separated: `Running, Completed, Suspended`",
        description=(
            "which statuses [count as healthy](health.md); by default these three, and for kinds that run to "
            "completion (with a mapping of `completed`) also `Initializing`, `Suspending` and `Resuming`"
        ),
        example="Running, Completed",
        parse=parsers.parse_healthy_statuses,
    ),
    Annotation(
        name="operations",
        schema=_names_of(OPERATIONS),
        form="operation names, comma separated",
        description="the only operations that are answered",
        example="InterpretStatus, InterpretHealth",
        parse=lambda annotation: frozenset(annotation.names("operation", OPERATIONS)),
    ),
    Annotation(
        name="lua",
        schema=_fields_of(**{slot.field: _mapping_to(_TEXT) for slot in SLOTS.values()}),
        form="a YAML mapping like `spec.customizations` of Karmada's ResourceInterpreterCustomization",
        description="[scripts](#scripts) that answer instead of the Karta",
        example="retention:\n  luaScript: function Retain(desired, observed) return desired end\n",
        parse=parsers.parse_lua,
    ),
    Annotation(
        name="written-from",
        schema=_TEXT,
        form="a project and its version, `KubeRay 1.4`",
        description=(
            "the API from which the definition was written; every definition of [the catalogue](catalogue/README.md) "
            "has it"
        ),
        example="KubeRay 1.4",
        parse=parsers.parse_written_from,
    ),
)
"""Every annotation, in the order in which they are parsed: ``lua`` needs what ``operations`` allows."""

NAMES: Final = tuple(annotation.name for annotation in ANNOTATIONS)


def parse_annotations(karta: Karta) -> tuple[Annotations, list[Finding]]:
    """Return the values of a Karta's annotations, without what is unusable, and the findings about them."""
    texts = {key.removeprefix(PREFIX): text for key, text in karta.annotations.items() if key.startswith(PREFIX)}
    findings: list[Finding] = []
    for key in karta.annotations:
        prefix, _, name = key.rpartition("/")
        # One of our names behind a prefix that is nearly ours; any other annotation belongs to another program.
        if f"{prefix}/" != PREFIX and closest(prefix, (PREFIX[:-1],)) and (meant := closest(name, NAMES)):
            message, hint = f"there is no annotation {key}", f"did you mean {PREFIX}{meant}?"
            findings.append(error("unknown-annotation", ("metadata", "annotations", key), message, hint))
    for name in (name for name in texts if name not in NAMES):
        meant = closest(name, NAMES)
        hint = f"did you mean {PREFIX}{meant}?" if meant else f"there are: {', '.join(NAMES)}"
        # A slip would leave the annotation without effect; another name may be one of a later release.
        report = error if meant else warning
        findings.append(report("unknown-annotation", annotation_path(name), f"there is no annotation {name}", hint))
    parsed: dict[str, Any] = {}
    for annotation in ANNOTATIONS:
        if annotation.name in texts:
            text = AnnotationText(annotation.name, texts[annotation.name], karta, parsed)
            parsed[annotation.field] = annotation.parse(text)
            findings += text.findings
    return Annotations(**parsed), findings
