"""A first Karta for a kind, drafted from the OpenAPI schema of its CustomResourceDefinition.

A schema has shapes without meanings: a field with the shape of a pod template is taken as one, a field called
`replicas` as a count. So a draft has notes for the points that a person has to check.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, TypeAlias

from msgspec import Struct

from karta_interpreter.base.findings import Finding, count
from karta_interpreter.base.k8s import NewObject, Object, Path
from karta_interpreter.base.k8s.yaml_writer import to_authored_yaml
from karta_interpreter.definitions.karta import PREFIX, ROOT, STRUCTURE, annotation_path, karta_type
from karta_interpreter.definitions.openapi.draft.pod_fields import (
    Form,
    FoundPods,
    PodsField,
    claims_of,
    counts,
    find_pods,
    switches_of,
    workload_fields,
)
from karta_interpreter.definitions.openapi.draft.references import Reference, references
from karta_interpreter.definitions.openapi.draft.statuses import statuses
from karta_interpreter.definitions.openapi.required import required_status
from karta_interpreter.definitions.openapi.schema import CustomKind, Entries, SchemaPath, below

Notes: TypeAlias = list[tuple[Path, str]]
Components: TypeAlias = Mapping[str, PodsField]
"""The pods of a kind by the names of their components."""

# The rules of `validate` that a note asks about at the same place.
_ASKED: Final = ("never-healthy", "no-pods", "type-selector-missing")
_CHILDREN: Final = (*STRUCTURE, "childComponents")
# The training operators of Kubeflow use `runPolicy.suspend`.
_SUSPEND: Final = (("suspend",), ("suspended",), ("runPolicy", "suspend"))


class Draft(Struct, frozen=True):
    """A Karta, and notes about places in it. A person has to decide the notes that begin with CHECK.

    ``asked`` are the places of a schema that such a note is about, and that no expression reads.
    """

    karta: Object
    notes: tuple[tuple[Path, str], ...]
    asked: tuple[str, ...] = ()

    @property
    def checks(self) -> int:
        """The number of notes that ask for a decision."""
        return sum(note.startswith("CHECK") for _, note in self.notes)

    def repeats(self, finding: Finding) -> bool:
        """Return whether a note already asks about the subject of a finding."""
        if finding.rule == "crd-unread":
            return any(place in finding.message for place in self.asked)
        checked = {path for path, note in self.notes if note.startswith("CHECK")}
        return finding.rule in _ASKED and not checked.isdisjoint((finding.path, finding.path[:-1]))


def components_of(kind: CustomKind) -> Components:
    """Return the places with pods, each with a name for its component."""
    pods = find_pods(kind.schema).pods
    return dict(zip(_names(pods, kind.name), pods, strict=True))


def draft(kind: CustomKind, components: Components | None = None) -> Draft:
    """Draft a first Karta for a kind. It can be loaded as it is, but is right only once its notes have been followed.

    ``components`` are those to draft, by default all.

    >>> from karta_interpreter.base.k8s.values import GVK
    >>> draft(CustomKind("bakeries.example.io", GVK("example.io", "v1", "Bakery"), {})).karta["metadata"]
    {'name': 'example-io-bakery-v1'}
    """
    parts = components_of(kind) if components is None else components
    pods = list(parts.values())
    on_root = len(pods) == 1 and not pods[0].place.has_instances
    root, notes = _root(kind, pods[0] if on_root else None)
    structure: NewObject = {"rootComponent": root}
    if parts and not on_root:
        children, child_notes = _children(kind, parts)
        structure["childComponents"] = children
        notes += child_notes
    if not parts:
        notes.append((ROOT, "CHECK: no pods were found. Say by a specDefinition where they are."))
        if kind.scale_path:
            structure["rootComponent"] = {**root, "scaleDefinition": {"replicasPath": kind.scale_path}}
    found = find_pods(kind.schema)
    notes += _questions(found, structure, on_root=on_root)
    metadata: NewObject = {"name": f"{(kind.gvk.group or 'core').replace('.', '-')}-{kind.name}-{kind.gvk.version}"}
    annotations: NewObject = {}
    for name, text, note in _annotations(kind, pods):
        annotations[f"{PREFIX}{name}"] = text
        notes.append((annotation_path(name), note))
    if named := [f"{each.field.jq} ({each.kind})" for each in _references(kind.schema, pods) if not each.has_shape]:
        note = f"CHECK: do these texts name objects that a workload needs? {_listed(named)}"
        notes.append((("metadata",), note))
    if annotations:
        metadata["annotations"] = annotations
    karta = {**karta_type(), "metadata": metadata, "spec": {"structureDefinition": structure}}
    return Draft(karta, tuple(notes), tuple(path.jq for path in (*found.uncounted, *found.changes)))


def _questions(found: FoundPods, structure: Object, *, on_root: bool) -> Iterator[tuple[Path, str]]:
    """Yield notes about parts that may belong to the pods of a draft, or count them."""
    components = structure.get("childComponents") or [structure["rootComponent"]]
    at = (*ROOT, "specDefinition") if on_root else _CHILDREN if "childComponents" in structure else ROOT
    if found.uncounted:
        listed = _listed([path.jq for path in found.uncounted])
        yield at, f"CHECK: these have no count. Are they containers of other pods, or pods of their own? {listed}"
    if found.changes:
        listed = _listed([path.jq for path in found.changes])
        yield at, f"CHECK: these change pods that are made elsewhere, maybe their count, too: {listed}"
    if found.counts and not any("scaleDefinition" in component for component in components):
        yield at, f"CHECK: do these count pods? {_listed([path.jq for path in found.counts])}"


def _listed(texts: Sequence[str]) -> str:
    """Return texts for a note, and the number of those that are too many for a person to decide on."""
    more = f", and {count(len(texts) - _MOST_OBJECTS, 'more field')}" if len(texts) > _MOST_OBJECTS else ""
    return f"{', '.join(texts[:_MOST_OBJECTS])}{more}"


def _annotations(kind: CustomKind, pods: Sequence[PodsField]) -> Iterator[tuple[str, str, str]]:
    """Yield the annotations of a draft: name, text and note."""
    if claims := [path.jq for each in pods for path in claims_of(each)]:
        listed = ", ".join(claims)
        yield "elastic", "none", f"Beside the count are volumes, one for each pod, so it is not divided: {listed}"
    shaped = [each for each in _references(kind.schema, pods) if each.has_shape]
    if shaped:
        lines = (f"- {{apiVersion: v1, kind: {each.kind}, name: {json.dumps(each.field.jq)}}}\n" for each in shaped)
        note = "CHECK: does a workload need these objects in its cluster? Only the names of the fields say so."
        if left_out := shaped[_MOST_OBJECTS:]:
            note += f" There are {count(len(left_out), 'more field')} like these."
        yield "dependencies", "".join(islice(lines, _MOST_OBJECTS)), note
    required = {path.jq: value for path, value in required_status(below(kind.schema, "status"))}
    if required:
        note = "CHECK: are these the values without clusters? A status without such a field is refused."
        yield "required-status", to_authored_yaml(required), note


def _root(kind: CustomKind, pods: PodsField | None) -> tuple[Object, Notes]:
    parts, notes = _component(kind, pods, ROOT) if pods else ({}, [])
    spec = below(kind.schema, "spec")
    switches = (steps for steps in _SUSPEND if below(spec, *steps).get("type") == "boolean")
    switch = next((SchemaPath(("spec", *steps)).jq for steps in switches), "")
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


def _children(kind: CustomKind, components: Components) -> tuple[list[Object], Notes]:
    children: list[Object] = []
    notes: Notes = []
    for name, pods in components.items():
        parts, more = _component(kind, pods, (*_CHILDREN, len(children)))
        children.append({"name": name, "ownerRef": kind.name, **parts})
        notes += more
    if len(children) > 1:
        notes.append((_CHILDREN, "CHECK: say by podSelector.componentTypeSelector of each which pods are its own."))
    return children, notes


def _component(kind: CustomKind, pods: PodsField, at: Path) -> tuple[NewObject, Notes]:
    """Return the fields of the component at ``at``, without its name, and notes to check."""
    # Of several components it counts the one below the part that it stands in.
    part = kind.scale_path.rpartition(".")[0]
    is_own = at == ROOT or (part != ".spec" and pods.place.jq.startswith(f"{part}."))
    scale, doubts = counts(pods, kind.scale_path if is_own else "")
    notes: Notes = []
    parts: NewObject = {"specDefinition": {pods.form.value: pods.place.jq}}
    if pods.form is Form.FRAGMENTS:
        parts = {"specDefinition": {pods.form.value: {piece: path.jq for piece, path in pods.pieces.items()}}}
        notes.append(((*at, "specDefinition"), "CHECK: are these the pieces of a pod?"))
    elif pods.is_guess:
        notes.append(((*at, "specDefinition"), "CHECK: only its name says that this is a pod's definition."))
    if pods.containers:
        listed = ", ".join(path.jq for path in pods.containers)
        notes.append(((*at, "specDefinition"), f"CHECK: are these containers of the same pods? {listed}"))
    for switch in switches_of(pods):
        off = "" if "disable" in switch.names[-1].lower() else "not "
        notes.append(((*at, "specDefinition"), f"CHECK: are there no such pods where {switch.jq} is {off}true?"))
    if scale:
        parts["scaleDefinition"] = scale
    notes += [((*at, "scaleDefinition"), f"CHECK: {doubt}") for doubt in doubts]
    if pods.place.has_instances:
        key = next(step.key for step in reversed(pods.place.steps) if isinstance(step, Entries))
        label = f'.metadata.labels["{kind.gvk.group}/{key or "instance"}"]'
        selector = {"componentInstanceSelector": {"idPath": label}}
        parts = {"instanceIdPath": pods.place.ids, **parts, "podSelector": selector}
        note = "CHECK: which label of a pod has the id of its instance? This one is made up."
        notes.append(((*at, "podSelector"), note))
    return parts, notes


_SUFFIXES: Final = re.compile(r"((pod|replica|group|job)?(template|spec)s?)+$", re.IGNORECASE)
_WORDS: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def _names(pods: Sequence[PodsField], root: str) -> list[str]:
    """Return a name for each component: the last field that leads to it alone, or else several of them."""
    ways = [_ways(field) for field in pods]
    leading_to = Counter(word for words in ways for word in set(words))
    taken = {root: None}
    for words in ways:
        own = [word for word in words if leading_to[word] == 1]
        name = own[-1] if own else words[-1]
        rest = words[:-1]
        while name in taken and rest:
            name = f"{rest.pop()}-{name}"
        taken[f"{name}-{len(taken)}" if name in taken else name] = None
    return list(taken)[1:]


def _ways(pods: PodsField) -> list[str]:
    """Return the fields that lead to pods: `headGroupSpec` as head, and `replicatedJobs` as replicated-job."""
    words: list[str] = []
    names = pods.place.names
    for field in names[names[0] == "spec" :]:
        word = "-".join(_WORDS.findall(_SUFFIXES.sub("", field))).lower().removesuffix("s")
        if word:
            words.append(word)
    return words or ["pods"]


_MOST_OBJECTS: Final = 24  # a person has to decide on each


def _references(schema: Object, pods: Sequence[PodsField]) -> list[Reference]:
    """Return the fields that name other objects, fields outside of pods first.

    >>> tls = {"properties": {"secretName": {"type": "string"}}}
    >>> _references({"properties": {"spec": {"properties": {"tls": tls}}}}, ())[0].field.jq
    '.spec.tls.secretName'
    """
    places = {field.place.steps for field in pods}
    outside, inside = list[Reference](), list[Reference]()
    for name, part in workload_fields(schema):
        for reference in references(SchemaPath((name,)), part):
            steps = reference.field.steps
            is_inside = any(steps[:length] in places for length in range(len(steps)))
            (inside if is_inside else outside).append(reference)
    return outside + inside
