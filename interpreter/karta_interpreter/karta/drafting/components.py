"""A component for each place that has pods."""

import re
from collections.abc import Sequence

from karta_interpreter.k8s.values import Object, Path
from karta_interpreter.karta.drafting.counts import counts
from karta_interpreter.karta.drafting.crd import CustomKind
from karta_interpreter.karta.drafting.place import Entries
from karta_interpreter.karta.drafting.pods import Form, Pods

Notes = list[tuple[Path, str]]

_SUFFIXES = re.compile(r"((pod|replica|group|job)?(template|spec)s?)+$", re.IGNORECASE)
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def component(kind: CustomKind, pods: Pods, at: Path) -> tuple[Object, Notes]:
    """What a component at ``at`` of a definition says of its pods, without its name, and what has to be checked."""
    found = counts(pods, kind.scale_path)
    parts: dict[str, object] = {"specDefinition": {pods.form.value: _specification(pods)}}
    notes = _guess(pods, (*at, "specDefinition"))
    if found.paths:
        parts["scaleDefinition"] = found.paths
    if found.is_product:
        notes.append(((*at, "scaleDefinition"), "CHECK: are these multiplied? A count is for the whole workload."))
    if found.others:
        place = "scaleDefinition" if found.paths else "specDefinition"
        notes.append(((*at, place), f"CHECK: does one of these count pods as well? {', '.join(found.others)}"))
    if not pods.place.has_instances:
        return parts, notes
    label = f'.metadata.labels["{kind.gvk.group}/{_key(pods) or "instance"}"]'
    notes.append(((*at, "podSelector"), "CHECK: which label of a pod has the id of its instance? This one is made up."))
    selector = {"componentInstanceSelector": {"idPath": label}}
    return {"instanceIdPath": pods.place.ids, **parts, "podSelector": selector}, notes


def names(found: Sequence[Pods], root: str) -> list[str]:
    """A name for each component, by the fields that lead to it."""
    taken = [root]
    for pods in found:
        words = [word for word in map(_word, pods.place.names[1:]) if word] or ["pods"]
        name = words.pop()
        while name in taken and words:
            name = f"{words.pop()}-{name}"
        taken.append(f"{name}-{len(taken)}" if name in taken else name)
    return taken[1:]


def _word(field: str) -> str:
    """What a field's name says of a component: ``headGroupSpec`` is the head, ``replicatedJobs`` a replicated job."""
    words = [word.lower() for word in _WORDS.findall(_SUFFIXES.sub("", field))]
    return "-".join(words).removesuffix("s")


def _key(pods: Pods) -> str | None:
    return next(step.key for step in reversed(pods.place.steps) if isinstance(step, Entries))


def _specification(pods: Pods) -> object:
    if pods.form is not Form.FRAGMENTS:
        return pods.place.jq
    return {piece: place.jq for piece, place in pods.pieces.items()}


def _guess(pods: Pods, at: Path) -> Notes:
    if pods.form is Form.FRAGMENTS:
        return [(at, "CHECK: are these the pieces of a pod?")]
    return [(at, "CHECK: only its name says that this is a pod's definition.")] if pods.is_guess else []
