"""A first Karta for a kind, drafted from the OpenAPI schema of its CustomResourceDefinition.

A schema has shapes without meanings: a field that looks like a pod template is taken as one, a field called `replicas`
as a count. So a draft has notes for the points that a person has to check. The rules for these guesses are here.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import JSON, Object, Path
from karta_interpreter.definitions.karta import PREFIX, ROOT, STRUCTURE, annotation_path, karta_type
from karta_interpreter.definitions.openapi.draft.pod_fields import (
    FACTORS,
    Form,
    NumberField,
    PodsField,
    counts,
    find_pods,
    have_state,
    product,
)
from karta_interpreter.definitions.openapi.draft.statuses import statuses
from karta_interpreter.definitions.openapi.references import PODS, references
from karta_interpreter.definitions.openapi.required import required_status
from karta_interpreter.definitions.openapi.schema import CustomKind, Entries, SchemaPath, below

__all__ = ["FACTORS", "Decision", "Draft", "Form", "NumberField", "PodsField", "draft", "find_pods", "product"]

Notes = list[tuple[Path, str]]

_CHILDREN = (*STRUCTURE, "childComponents")
# The training operators of Kubeflow use `runPolicy.suspend`.
_SUSPEND = (("suspend",), ("suspended",), ("runPolicy", "suspend"))


@dataclass(frozen=True, slots=True)
class Draft:
    """A Karta, and notes about places in it. A person has to decide the notes that begin with CHECK."""

    karta: Object
    notes: tuple[tuple[Path, str], ...]

    @property
    def checks(self) -> int:
        """The number of notes that ask for a decision."""
        return sum(note.startswith("CHECK") for _, note in self.notes)


@dataclass(frozen=True, slots=True)
class Decision:
    """What is known of the pods at a place: ``parts`` of their component, and notes with their paths in it."""

    parts: Mapping[str, JSON] = field(default_factory=dict)
    notes: tuple[tuple[Path, str], ...] = ()


_Pods = tuple[PodsField, Decision | None]


def draft(kind: CustomKind, known: Sequence[tuple[PodsField, Decision]] | None = None) -> Draft:
    """Draft a first Karta for a kind. It can be loaded as it is, but is right only once its notes have been followed.

    Nothing is guessed of ``known`` pods, or of dependencies next to them.

    >>> from karta_interpreter.base.k8s.values import GVK
    >>> draft(CustomKind("bakeries.example.io", GVK("example.io", "v1", "Bakery"), {})).karta["metadata"]
    {'name': 'example-io-bakery-v1'}
    """
    pairs: Sequence[_Pods] = [(pods, None) for pods in find_pods(kind.schema)] if known is None else known
    pod_fields = [pods for pods, _ in pairs]
    on_root = len(pod_fields) == 1 and not pod_fields[0].place.has_instances
    root, root_notes = _root(kind, pairs[0] if on_root else None)
    children, child_notes = ([], []) if on_root else _children(kind, pairs)
    notes = [*root_notes, *child_notes]
    if not pod_fields:
        notes.append((ROOT, "CHECK: no pods were found. Say by a specDefinition where they are."))
    annotations: dict[str, JSON] = {}
    if any(map(have_state, pod_fields)):
        annotations[f"{PREFIX}elastic"] = "none"
        note = (
            "CHECK: Would replicas in another cluster be a separate database? Storage or a primary next to "
            "their count suggests that. Else remove this, or name the components that may be divided."
        )
        notes.append((annotation_path("elastic"), note))
    needed, left_out = ("", 0) if known is not None else _dependencies(kind.schema, pod_fields)
    if needed:
        annotations[f"{PREFIX}dependencies"] = needed
        note = "CHECK: does a workload need these objects in its cluster? Only the names of the fields say so."
        if left_out:
            note += f" Further from pods are {count(left_out, 'more field')} like these, which are left out."
        notes.append((annotation_path("dependencies"), note))
    required = [f"{path.jq}: {json.dumps(value)}\n" for path, value in required_status(below(kind.schema, "status"))]
    if required:
        annotations[f"{PREFIX}required-status"] = "".join(required)
        note = "CHECK: are these the values without clusters? A status without such a field is refused."
        notes.append((annotation_path("required-status"), note))
    written = {
        **karta_type(),
        "metadata": {
            "name": f"{(kind.gvk.group or 'core').replace('.', '-')}-{kind.name}-{kind.gvk.version}",
            **({"annotations": annotations} if annotations else {}),
        },
        "spec": {"structureDefinition": {"rootComponent": root, **({"childComponents": children} if children else {})}},
    }
    return Draft(written, tuple(notes))


def _root(kind: CustomKind, pods: _Pods | None) -> tuple[Object, Notes]:
    parts, notes = _component(kind, *pods, ROOT) if pods else ({}, [])
    spec = below(kind.schema, "spec")
    switch = next(
        (SchemaPath(("spec", *steps)).jq for steps in _SUSPEND if below(spec, *steps).get("type") == "boolean"), ""
    )
    status, note = statuses(kind, switch)
    if switch:
        parts["suspendDefinition"] = {
            "suspendActions": [{"path": switch, "value": "true"}],
            "resumeActions": [{"path": switch, "value": "false"}],
        }
        notes.append(((*ROOT, "suspendDefinition"), "CHECK: does this field take the pods away?"))
    notes.append(((*ROOT, "statusDefinition", "statusMappings"), note))
    root = {
        "name": kind.name,
        "kind": {"group": kind.gvk.group, "version": kind.gvk.version, "kind": kind.gvk.kind},
        **parts,
        "statusDefinition": status,
    }
    return root, notes


def _children(kind: CustomKind, pairs: Sequence[_Pods]) -> tuple[list[Object], Notes]:
    children: list[Object] = []
    notes: Notes = []
    for name, pods in zip(_names([pods for pods, _ in pairs], kind.name), pairs, strict=True):
        parts, more = _component(kind, *pods, (*_CHILDREN, len(children)))
        children.append({"name": name, "ownerRef": kind.name, **parts})
        notes += more
    if len(children) > 1 and not all("componentTypeSelector" in child.get("podSelector", ()) for child in children):
        notes.append((_CHILDREN, "CHECK: say by podSelector.componentTypeSelector of each which pods are its own."))
    return children, notes


_SUFFIXES = re.compile(r"((pod|replica|group|job)?(template|spec)s?)+$", re.IGNORECASE)
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def _component(kind: CustomKind, pods: PodsField, decision: Decision | None, at: Path) -> tuple[dict[str, JSON], Notes]:
    """Return the fields of the component at ``at``, without its name, and notes to check."""
    if decision:
        component = {"specDefinition": {pods.form.value: pods.place.jq}, **decision.parts}
        if pods.place.has_instances:
            selector = {**_made_up_selector(kind, pods), **decision.parts.get("podSelector", {})}
            component = {"instanceIdPath": pods.place.ids, **component, "podSelector": selector}
        return component, [((*at, *path), note) for path, note in decision.notes]
    # Of several components it counts the one below the part that it stands in.
    part = kind.scale_path.rpartition(".")[0]
    is_own = at == ROOT or (part != ".spec" and pods.place.jq.startswith(f"{part}."))
    scale, doubts = counts(pods, kind.scale_path if is_own else "")
    form, is_fragments = pods.form.value, pods.form is Form.FRAGMENTS
    notes: Notes = []
    if is_fragments:
        notes.append(((*at, "specDefinition"), "CHECK: are these the pieces of a pod?"))
    elif pods.is_guess:
        notes.append(((*at, "specDefinition"), "CHECK: only its name says that this is a pod's definition."))
    pieces = {piece: path.jq for piece, path in pods.pieces.items()}
    parts: dict[str, JSON] = {"specDefinition": {form: pieces if is_fragments else pods.place.jq}}
    parts |= {"scaleDefinition": scale} if scale else {}
    notes += [((*at, "scaleDefinition" if scale else "specDefinition"), f"CHECK: {doubt}") for doubt in doubts]
    if not pods.place.has_instances:
        return parts, notes
    notes.append(((*at, "podSelector"), "CHECK: which label of a pod has the id of its instance? This one is made up."))
    return {"instanceIdPath": pods.place.ids, **parts, "podSelector": _made_up_selector(kind, pods)}, notes


def _made_up_selector(kind: CustomKind, pods: PodsField) -> dict[str, JSON]:
    key = next(step.key for step in reversed(pods.place.steps) if isinstance(step, Entries))
    return {"componentInstanceSelector": {"idPath": f'.metadata.labels["{kind.gvk.group}/{key or "instance"}"]'}}


def _names(pod_fields: Sequence[PodsField], root: str) -> list[str]:
    """Return a name for each component, by the fields that lead to it."""
    taken = [root]
    for pods in pod_fields:
        # The field `headGroupSpec` is of the head, and `replicatedJobs` of a replicated job.
        parts = [_WORDS.findall(_SUFFIXES.sub("", field)) for field in pods.place.names[1:]]
        words = [word for part in parts if (word := "-".join(part).lower().removesuffix("s"))] or ["pods"]
        name = words.pop()
        while name in taken and words:
            name = f"{words.pop()}-{name}"
        taken.append(f"{name}-{len(taken)}" if name in taken else name)
    return taken[1:]


_MOST_OBJECTS: Final = 12  # a person has to decide on each


def _dependencies(schema: Object, pods: Sequence[PodsField]) -> tuple[str, int]:
    r"""Return the text of the annotation ``dependencies`` for the fields nearest to pods, and how many are left out.

    Fields in pods are theirs.

    >>> tls = {"properties": {"secretName": {"type": "string"}}}
    >>> _dependencies({"properties": {"spec": {"properties": {"tls": tls}}}}, ())
    ('- {apiVersion: v1, kind: Secret, name: ".spec.tls.secretName"}\n', 0)
    """
    covered = {field.place.jq for field in pods if field.form is not Form.FRAGMENTS}
    referenced = references(SchemaPath(("spec",)), below(schema, "spec"), lambda path: path.jq in covered)
    named = [(path, kind) for path, kind in referenced if kind not in ("", PODS)]
    named.sort(key=lambda field: min((field[0].distance(template.place) for template in pods), default=0))
    text = "".join(
        f"- {{apiVersion: v1, kind: {kind}, name: {json.dumps(path.jq)}}}\n" for path, kind in named[:_MOST_OBJECTS]
    )
    return text, len(named[_MOST_OBJECTS:])
