"""The facts that Karmada needs in addition to Karta's schema: the annotations, with a record for each.

Hints, schemas and pages are derived from the records.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from karta_interpreter.base.findings import Finding, closest, error, warning
from karta_interpreter.base.k8s import JSON, QUALIFIED_NAME, Object
from karta_interpreter.base.karmada import SLOTS, Operation
from karta_interpreter.definitions.karta import annotations as values
from karta_interpreter.definitions.karta.annotation_parsers import (
    parse_added_containers,
    parse_aggregate,
    parse_completions,
    parse_dependencies,
    parse_divided,
    parse_elastic,
    parse_healthy_statuses,
    parse_later_status,
    parse_lua,
    parse_other_versions,
    parse_outcomes,
    parse_queue_labels,
    parse_required_status,
    parse_retain,
    parse_state,
    parse_unit,
    parse_unread,
    parse_written_from,
)
from karta_interpreter.definitions.karta.annotation_text import AnnotationText
from karta_interpreter.definitions.karta.model import KartaResource
from karta_interpreter.definitions.karta.status_rules import Status
from karta_interpreter.languages.jq import queries_in
from karta_interpreter.languages.lua.script import Scripts

_TEXT: Final[Object] = {"type": "string"}
_JQ: Final[Object] = {"type": "string", "format": "jq"}
_LINK: Final = re.compile(r"\[([^]]+)\]\([^)]+\)")


class Annotations(Struct, frozen=True):
    """The parsed annotations of one definition. A field without its annotation has its default."""

    unit: values.AnnotationQuery | None = None
    elastic: tuple[str, ...] | None = None
    divided: tuple[values.Divided, ...] = ()
    retain: tuple[values.RetainRule, ...] = ()
    state: tuple[values.PreservedState, ...] = ()
    queue_labels: tuple[str, ...] = ("kueue.x-k8s.io/queue-name",)  # `QueueLabel` in Kueue's `pkg/controller/constants`
    dependencies: tuple[values.Needed, ...] = ()
    unread: tuple[values.UnknownPart, ...] = ()
    added_containers: tuple[values.AddedContainers, ...] = ()
    aggregate: Mapping[values.PathPattern, values.AggregateRule] = field(default_factory=dict)
    later_status: tuple[values.LaterField, ...] = ()
    required_status: Mapping[tuple[str, ...], JSON] = field(default_factory=dict)
    outcomes: Mapping[str, str] = field(default_factory=dict)
    completions: tuple[values.Completion, ...] = ()
    health: values.AnnotationQuery | None = None
    healthy_statuses: frozenset[Status] | None = None
    observed_generation: bool = True
    operations: frozenset[str] | None = None
    lua: Scripts = field(default_factory=Scripts)
    written_from: str = ""
    other_versions: tuple[str, ...] = ()

    def is_elastic(self, component: str, instance: str | None = None) -> bool:
        """Return whether ``elastic`` names a component or the instance. Without ``instance``, any instance counts.

        >>> found = Annotations(elastic=("head", "group/hot"))
        >>> found.is_elastic("group", "hot"), found.is_elastic("group", "cold"), found.is_elastic("group")
        (True, False, True)
        """
        named, prefix = self.elastic or (), f"{component}/"
        if component in named:
            return True
        if instance is None:
            return any(name.startswith(prefix) for name in named)
        return prefix + instance in named

    def queries(self, operation: Operation | None = None) -> Iterator[values.AnnotationQuery]:
        """Yield the expressions in all values, or only the ones that the answer to an ``operation`` depends on."""
        for query in queries_in(self):
            if isinstance(query, values.AnnotationQuery) and (operation is None or operation in query.read_by):
                yield query

    @property
    def versioned_dependencies(self) -> list[values.ExtraDependency]:
        """The entries of ``dependencies`` with more than one API version."""
        return [rule for rule in self.dependencies if isinstance(rule, values.ExtraDependency) and rule.versions]

    def of_dependencies(self, form: str) -> list[values.AnnotationQuery]:
        """Return the expressions of one form, such as ``pods``, in ``dependencies``."""
        return [
            entry.query
            for entry in self.dependencies
            if isinstance(entry, values.OfDependencies) and entry.form == form
        ]

    @property
    def retained(self) -> tuple[values.RetainRule, ...]:
        """The rules of ``retain``, and the rules for fields that members derive from preserved state."""
        return (*self.retain, *(rule for preserved in self.state for rule in preserved.places))

    @property
    def is_indivisible(self) -> bool:
        """Whether ``elastic`` is ``none``: an object keeps the number of pods that it has."""
        return self.elastic == ()

    @property
    def observes_generation(self) -> bool:
        """Whether ``observedGeneration`` in a status is about the object itself: an omitted one is not."""
        return self.aggregate.get(("status", "observedGeneration")) is not values.AggregateRule.OMIT

    @property
    def observes_generation_later(self) -> bool:
        """Whether only later releases write ``observedGeneration``."""
        return any(later.name == "observedGeneration" for later in self.later_status)


class Annotation(Struct, frozen=True):
    """One annotation. Without defaults the type checker demands every part of a new annotation."""

    name: str
    """The name without the prefix."""
    schema: Object
    """The JSON Schema of the value: of the YAML for an object or a list, else of the text. A string of the format
    ``jq`` is an expression.
    """
    form: str
    """The value in words, in Markdown with links relative to ``docs/``."""
    description: str
    """The effect, in Markdown like ``form``."""
    example: str
    """A whole text."""
    parse: Callable[[AnnotationText], object]
    read_by: frozenset[Operation]
    """The operations with answers that depend on it."""
    exported: str
    """Continues "an exported script"."""

    @property
    def field(self) -> str:
        """The field of `Annotations` for the value that ``parse`` returns."""
        return self.name.replace("-", "_")

    def without(self, values: Annotations) -> Annotations:
        """Return the values without the value of this annotation."""
        return replace(values, **{self.field: getattr(Annotations(), self.field)})

    def is_set(self, values: Annotations) -> bool:
        """Return whether this annotation changes its value from the default."""
        return self.without(values) != values

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


def _name_of(what: str, example: str) -> Object:
    return {
        "type": "string",
        "pattern": f"^{QUALIFIED_NAME.pattern}$",
        "title": f"the name of {what}",
        "examples": [example],
    }


_OBJECTS = {"apiVersion": _TEXT, "kind": _TEXT, "namespace": _JQ}

ANNOTATIONS: Final = (
    Annotation(
        name="unit",
        schema=_JQ,
        form="jq: the field with the number of units, with its default",
        description=(
            "the one field that multiplies all pods. "
            "[Its units are divided](operations.md#groups) instead of pods, such as the groups of a LeaderWorkerSet"
        ),
        example=".spec.worker.replicas // 1",
        parse=parse_unit,
        read_by=frozenset({Operation.INTERPRET_REPLICA, Operation.REVISE_REPLICA}),
        exported="counts and writes these units",
    ),
    Annotation(
        name="elastic",
        schema=_TEXT,
        form="names of components, or of instances as `component/instance`, comma separated, or `none`",
        description=(
            "the components and instances with pods that ReviseReplica may change. With `none` "
            "[the workload is not divided](operations.md#workloads-that-cannot-be-divided). Without the annotation "
            "those with `minReplicasPath` or `maxReplicasPath`, or else those with more than one replica"
        ),
        example="worker",
        parse=parse_elastic,
        read_by=frozenset({Operation.REVISE_REPLICA, Operation.REVISE_COMPONENTS}),
        exported="changes only the counts of these pods",
    ),
    Annotation(
        name="divided",
        schema=_list_of(_fields_of("minimum", "of", minimum=_JQ, of=_JQ), _fields_of("held", "of", held=_JQ, of=_JQ)),
        form=(
            "a YAML list of `{minimum: jq, of: jq}` and `{held: jq, of: jq}`: the path of a number, and a count that "
            "changes when replicas are divided. Of several values each has its own count"
        ),
        description=(
            "numbers that are [divided along](operations.md#numbers-that-are-divided-along) with a count: minimums, "
            "and the pods that a roll-out holds back"
        ),
        example="- {minimum: .spec.worker.quorum, of: .spec.worker.replicas // 1}\n",
        parse=parse_divided,
        read_by=frozenset({Operation.REVISE_REPLICA, Operation.REVISE_COMPONENTS}),
        exported="divides these numbers",
    ),
    Annotation(
        name="retain",
        schema={
            "anyOf": [
                _list_of(
                    _JQ,
                    *(_fields_of("unset", unset=_JQ, **{name: _JQ, "if": _JQ}) for name in ("by", "value")),
                    _fields_of("owned", "while", owned=_JQ, **{"while": _JQ}),
                    _fields_of("owned", "if", owned=_JQ, **{"if": _JQ}),
                    _fields_of("replicas", replicas=_JQ),
                    _fields_of("quantities", quantities=_JQ),
                    _fields_of("once", "note", once=_JQ, note=_name_of("an annotation", "example.io/sent")),
                    *(
                        _fields_of(name, **{name: _JQ, "if": _JQ})
                        for name in ("immutable", "changeable", "fixed", "share")
                    ),
                ),
                _TEXT,
            ]
        },
        form=(
            "a YAML list of jq paths, or one per line, and of "
            "[rules for fields that the template leaves unset](#what-belongs-to-a-member)"
        ),
        description="paths that belong to the member cluster",
        example=(
            "- .spec.seed\n"
            "- {unset: .spec.containers, by: .name, if: .injected}\n"
            "- {owned: .spec.disk, while: .status.restored}\n"
            "- replicas: .spec.roles[].replicas\n"
            "- quantities: .spec.resources\n"
            "- {once: .spec.podsToDelete, note: example.io/pods-to-delete}\n"
            "- immutable: .spec.claims\n"
            "- {changeable: '.spec.claims[].size', if: .member.spec.suspend}\n"
            "- fixed: .spec.selector\n"
            "- share: .spec.roles[].size\n"
        ),
        parse=parse_retain,
        read_by=frozenset({Operation.RETAIN}),
        exported="keeps these values of the member",
    ),
    Annotation(
        name="state",
        schema=_list_of(
            _fields_of(
                "status",
                "label",
                "spec",
                status=_TEXT,
                label=_name_of("a label", "example.io/replaced-job"),
                spec={"anyOf": [_JQ, {"type": "array", "items": _JQ, "minItems": 1}]},
            )
        ),
        form=(
            "a YAML list of `{status, label, spec}`: a path such as `.status.job.id`, the name of a label, and one or "
            "several jq paths"
        ),
        description=(
            "[state that a failover preserves](health.md#state): Karmada passes the field of the status to a new "
            "cluster as the label, and a mutation there writes the fields of the spec. These fields belong to the "
            "member if the template leaves them unset"
        ),
        example="- {status: .status.run, label: example.io/replaced-run, spec: .spec.seed}\n",
        parse=parse_state,
        read_by=frozenset({Operation.RETAIN}),
        exported="keeps these fields of the member",
    ),
    Annotation(
        name="queue-labels",
        schema=_TEXT,
        form="names of labels, comma separated, or `none`. The default is `kueue.x-k8s.io/queue-name`",
        description=(
            "the labels of objects that [a queue of the member suspends and admits](operations.md#workloads-in-a-queue)"
        ),
        example="example.io/queue",
        parse=parse_queue_labels,
        read_by=frozenset({Operation.RETAIN}),
        exported="looks for these labels",
    ),
    Annotation(
        name="added-containers",
        schema=_mapping_to(_JQ),
        form=(
            "a YAML mapping of components to jq that gives `{containers: […], initContainers: […], "
            "firstInitContainers: […]}` or nothing, "
            "[once for all instances or once for each](#containers-that-an-operator-adds)"
        ),
        description=(
            "containers that the operator adds to the component's pods. They count in requests and dependencies. "
            "`firstInitContainers` start before those of the template, others after them. "
            "Changes of pods are still written to the template"
        ),
        example="worker: '{containers: [.spec.proxy | select(.)]}'\n",
        parse=parse_added_containers,
        read_by=frozenset({Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT, Operation.INTERPRET_DEPENDENCY}),
        exported="adds these containers to the pods",
    ),
    Annotation(
        name="dependencies",
        schema=_list_of(
            _fields_of("apiVersion", "kind", "name", **_OBJECTS, name=_JQ),
            _fields_of("apiVersion", "kind", "labelSelector", **_OBJECTS, labelSelector=_JQ),
            _fields_of("pods", pods=_JQ),
            _fields_of("claims", claims=_JQ),
            _fields_of("parameters", parameters=_JQ),
        ),
        form=(
            "a YAML list of `{apiVersion, kind, name, namespace}`, the last two in jq. Of several versions in "
            "`apiVersion`, comma separated and newest first, the first counts that karmada-apiserver serves. One "
            "`namespace` is "
            "for all names, or there is one for each. Objects of other namespaces are left out. An entry with "
            "`labelSelector` instead of `name` takes all objects of the kind with these labels: jq that gives a label "
            "selector. Other entries are `{pods: jq}` (more pod templates, or parts of them), `{claims: jq}` (names of "
            "volumes that the controller replaces by claims) and `{parameters: jq}` (an object with the values of "
            "parameters in names: `{params: {user: …}}` for `{{params.user}}` and `$(params.user)`)"
        ),
        description="additional objects that the workload needs, and volumes to ignore",
        example=(
            "- {apiVersion: v1, kind: ConfigMap, name: .spec.config, namespace: .spec.team}\n"
            "- {apiVersion: v1, kind: Service, labelSelector: '{matchLabels: {mill: .metadata.name}}'}\n"
            "- pods: .spec.sidecars[].template\n"
            "- claims: .spec.volumeClaimTemplates[].metadata.name\n"
            "- parameters: '{params: .spec.params}'\n"
        ),
        parse=parse_dependencies,
        read_by=frozenset({Operation.INTERPRET_DEPENDENCY}),
        exported="names these objects",
    ),
    Annotation(
        name="unread",
        schema=_list_of(_fields_of("unknown", "reason", unknown=_JQ, reason=_TEXT)),
        form="a YAML list of `{unknown: jq, reason: text}`",
        description=(
            "parts of the workload by which its pods request something else than the answer, each with the reason. "
            "A warning names the parts that a workload has, and none names their resources"
        ),
        example="- {unknown: .spec.podPatch, reason: a patch of the pods is text}\n",
        parse=parse_unread,
        read_by=frozenset(),
        exported="does not depend on it",
    ),
    Annotation(
        name="health",
        schema=_JQ,
        form="jq that yields true or false",
        description="replaces the status mapping for InterpretHealth",
        example=".status.ready == true",
        parse=lambda annotation: annotation.query(annotation.text, gives=bool),
        read_by=frozenset({Operation.INTERPRET_HEALTH}),
        exported="has the expression as a function",
    ),
    Annotation(
        name="healthy-statuses",
        schema=_names_of(Status),
        form="status names, comma separated: `Running, Completed`",
        description=(
            "the statuses that [count as healthy](health.md). The default is `Running`, `Completed` and `Suspended`. "
            "For kinds that run to completion (with a mapping of `completed`), the default also has `Initializing`, "
            "`Suspending` and `Resuming`"
        ),
        example="Running, Completed",
        parse=parse_healthy_statuses,
        read_by=frozenset({Operation.INTERPRET_HEALTH, Operation.AGGREGATE_STATUS}),
        exported="looks for these statuses",
    ),
    Annotation(
        name="observed-generation",
        schema={"type": "string", "enum": ["late"]},
        form="`late`",
        description=(
            "the operator writes `observedGeneration` late, or not for each generation, so that a status of an older "
            "one [counts like any other](health.md). GitOps tools still see it as older"
        ),
        example="late",
        parse=lambda annotation: not annotation.names("time", ["late"]),
        read_by=frozenset({Operation.INTERPRET_HEALTH}),
        exported="does not compare the generations",
    ),
    Annotation(
        name="aggregate",
        schema=_mapping_to({"type": "string", "enum": [str(rule) for rule in values.AggregateRule], "title": "rule"}),
        form=(
            "a YAML mapping of paths such as `.status.pools[].peak` to `sum`, `counter` (a sum that never falls), "
            "`max`, `min`, `any`, `all`, `first`, `worst` (the value of the cluster with the worst status), `union` "
            "(the keys of all objects), `concat`, `latest`, `earliest`, `omit` (the template's value stays) or `drop` "
            "(the field is removed)"
        ),
        description=(
            "how the values of several clusters for a status field become one value. A path may also name a condition "
            'that its controller removes when it is not true (`.status.conditions["Paused"]: any`). An '
            "`observedGeneration` that is omitted is never compared with the object's generation"
        ),
        example=".status.active: sum\n.status.pools[].peak: max\n",
        parse=parse_aggregate,
        read_by=frozenset({Operation.AGGREGATE_STATUS, Operation.INTERPRET_STATUS, Operation.INTERPRET_HEALTH}),
        exported="merges by these rules",
    ),
    Annotation(
        name="later-status",
        schema=_mapping_to(_JQ),
        form="a YAML mapping of fields such as `.status.ready` to jq that gives what an older release has, or null",
        description=(
            "the fields of a status that [only later releases of the operator write]"
            "(aggregate-status.md#operators-of-several-releases). With null for one cluster the merged status lacks "
            "the field. A cluster without a later `observedGeneration` is current once it has the template's generation"
        ),
        example=".status.ready: 'if .status.conditions then 0 else .status.running // 0 end'\n",
        parse=parse_later_status,
        read_by=frozenset({Operation.AGGREGATE_STATUS, Operation.INTERPRET_STATUS}),
        exported="fills in or leaves out these fields",
    ),
    Annotation(
        name="required-status",
        schema=_mapping_to({"anyOf": [_TEXT, {"type": "object", "additionalProperties": True}, *_PLAIN]}),
        form="a YAML mapping of paths such as `.status.driver` to values such as `{}`",
        description=(
            "the fields that [the CRD requires in a status](aggregate-status.md#what-the-crd-requires), each with the "
            "value to use if no cluster gives one. A field of an object is added only if the object is there"
        ),
        example=".status.driver: {}\n.status.driver.phase: Unknown\n",
        parse=parse_required_status,
        read_by=frozenset({Operation.AGGREGATE_STATUS}),
        exported="adds these fields",
    ),
    Annotation(
        name="outcomes",
        schema=_mapping_to(_TEXT),
        form=(
            "a YAML mapping from conditions that end the workload for good to those that announce them, all in the "
            "statusMappings: `Failed: FailureTarget`"
        ),
        description=(
            "when the workload has ended, [which the API server may check](aggregate-status.md#how-a-workload-ends)"
        ),
        example="Failed: FailureTarget\n",
        parse=parse_outcomes,
        read_by=frozenset({Operation.AGGREGATE_STATUS}),
        exported="looks for these conditions",
    ),
    Annotation(
        name="completions",
        schema=_list_of(_fields_of("done", "of", done=_JQ, of=_JQ)),
        form="a YAML list of `{done: jq, of: jq}`: the number that the status has done, and that the workload is to do",
        description=(
            "what all clusters together [have to do before the workload has completed]"
            "(aggregate-status.md#what-is-still-to-be-done)"
        ),
        example="- {done: .status.finished, of: .spec.total}\n",
        parse=parse_completions,
        read_by=frozenset({Operation.AGGREGATE_STATUS}),
        exported="adds up these numbers",
    ),
    Annotation(
        name="operations",
        schema=_names_of(Operation),
        form="operation names, comma separated",
        description="the only operations that are answered",
        example="InterpretStatus, InterpretHealth",
        parse=lambda annotation: frozenset(annotation.names("operation", list(Operation))),
        read_by=frozenset(Operation),
        exported="exists only for these operations",
    ),
    Annotation(
        name="lua",
        schema=_fields_of(**{slot.field: _mapping_to(_TEXT) for slot in SLOTS.values()}),
        form="a YAML mapping like `spec.customizations` of Karmada's ResourceInterpreterCustomization",
        description="[scripts](#scripts) that answer instead of the Karta",
        example="retention: {luaScript: 'function Retain(desired, observed) return desired end'}\n",
        parse=parse_lua,
        read_by=frozenset(Operation),
        exported="is the script of the annotation",
    ),
    Annotation(
        name="written-from",
        schema=_TEXT,
        form="a project and its version, or several: `KubeRay 1.4, Kueue 0.17`",
        description=(
            "what the definition was written from: the project whose API it is comes first. Every definition of "
            "[the catalogue](catalogue/README.md) has this annotation. [upstreams.yaml](upstreams.yaml) and the facts "
            "of the kinds have their projects"
        ),
        example="KubeRay 1.4",
        parse=parse_written_from,
        read_by=frozenset(),
        exported="does not depend on it",
    ),
    Annotation(
        name="other-versions",
        schema=_TEXT,
        form="names of versions, comma separated: `v1alpha1, v1alpha2`",
        description=(
            "the other versions of the kind that "
            "[this Karta describes as well](authoring.md#several-versions-of-a-kind)"
        ),
        example="v1beta1",
        parse=parse_other_versions,
        read_by=frozenset(),
        exported="is for one version, and there is one for each",
    ),
)
"""Every annotation, in the order of parsing: ``lua`` needs the value of ``operations``."""

NAMES: Final = tuple(annotation.name for annotation in ANNOTATIONS)


def parse_annotations(karta: KartaResource) -> tuple[Annotations, list[Finding]]:
    """Return the usable values of a Karta's annotations, and the findings about all of them."""
    texts = {
        key.removeprefix(values.PREFIX): text
        for key, text in karta.annotations.items()
        if key.startswith(values.PREFIX)
    }
    findings: list[Finding] = []
    for key in karta.annotations:
        prefix, _, name = key.rpartition("/")
        is_ours, suggestion = key.startswith(values.PREFIX), closest(name, NAMES)
        # One of our names with nearly our prefix, with none, or of Karta. Any other belongs to another program.
        is_near = (("karta" in prefix or not prefix) and name in NAMES) or closest(prefix, (values.PREFIX[:-1],))
        if name not in NAMES if is_ours else is_near and suggestion:
            hint = f"did you mean {values.PREFIX}{suggestion}?" if suggestion else f"there are: {', '.join(NAMES)}"
            # A typing error would leave the annotation without effect. Another name may come from a later release.
            report = error if suggestion and prefix else warning
            message = f"there is no annotation {key.removeprefix(values.PREFIX)}"
            findings.append(report("unknown-annotation", ("metadata", "annotations", key), message, hint))
    parsed: dict[str, Any] = {}
    for annotation in ANNOTATIONS:
        if annotation.name in texts:
            text = AnnotationText(
                annotation.name,
                texts[annotation.name],
                karta,
                parsed,
                annotation.schema,
                annotation.example,
                annotation.read_by,
            )
            parsed[annotation.field] = annotation.parse(text)
            findings += text.findings
    return Annotations(**parsed), findings
