"""Upstream's own samples and CRDs: an answer without pods, an error, and resources that are not read have a reason.

Samples are the manifests in the folders for samples of the Go modules of controllers (`sources`), none of which is
committed. What a sample refers to is among the others of its module. A CRD stands for an object that sets the resources
in all of its fields.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final

import yaml

from karta_interpreter.base.errors import InterpretationError, ManifestError
from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.base.k8s.values import GVK, JSON, Object, json_pointer
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.operations.left_out import resources_left_out
from tests.catalogue.entries import entries, has_pods
from tests.proofs.conformance.crds import sources
from tests.proofs.conformance.reasons import Reasons

_FOLDERS: Final = frozenset({"config", "doc", "docs", "example", "examples", "manifests", "sample", "samples"})
_OPERATIONS: Final = (Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT, Operation.INTERPRET_DEPENDENCY)
_OF_CLAIMS: Final = frozenset(
    {
        *("dataVolumeTemplates", "pvc", "pvcTemplate", "volumeClaim", "volumeClaimTemplate"),
        *("volumeClaimTemplates", "volumeClaimPolicies"),
    }
)
"""Fields below which resources are those of a claim."""
_END: Final = re.compile(r"^---", re.MULTILINE)
REASONS: Final = Path(__file__).with_name("samples.yaml")


@dataclass
class Tally:
    """What was asked, and what needs a reason."""

    crds: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    outcomes: Reasons = field(default_factory=lambda: Reasons(REASONS))

    def __str__(self) -> str:
        return f"{self.asked.total()} samples of {len(self.asked)} kinds, {self.crds} CRDs; {self.outcomes}"

    def failures(self) -> Iterator[str]:
        """Yield the outcomes without a reason, and the reasons without an outcome."""
        yield from self.outcomes.failures()
        if not self.asked:
            yield "there are no samples"


def compare() -> Tally:
    """Ask about all samples; raises BuildError when a module cannot be had."""
    made = [entry.definition for entry in entries() if entry.definition and has_pods(entry.definition)]
    definitions = {each.gvk: each for each in made if not f"{each.gvk.api_version} ".startswith(sources.BUILT_IN)}
    tally = Tally()
    for gvk, schema in _schemas(definitions):
        tally.crds += 1
        obj = {"spec": _filled(schema["properties"].get("spec"))}
        for outcome in _unread(definitions[gvk], obj):
            tally.outcomes.count(f"{gvk.kind} CRD: {outcome}")
    # What a definition refers to is read as well.
    kinds = chain(definitions, *([reference.gvk for reference in each.references] for each in made))
    versions = "|".join(sorted({re.escape(gvk.api_version) for gvk in kinds}))
    pattern = re.compile(rf"^apiVersion: *[\"']?({versions})\b", re.MULTILINE)
    for source in sources.folders():
        objects = dict(_objects(source, pattern))
        known = Known.of(objects.values())
        for name, sample in objects.items():
            if definition := definitions.get(GVK.of(sample)):
                tally.asked[f"{definition.gvk.api_version} {definition.gvk.kind}"] += 1
                for outcome in outcomes(definition, sample, known):
                    tally.outcomes.count(f"{definition.gvk.kind} {name}: {outcome}")
    return tally


def outcomes(definition: Definition, obj: Object, known: Known) -> Iterator[str]:
    """Yield what needs a reason in the answers about an object."""
    for operation in _OPERATIONS:
        if definition.answers(operation):
            try:
                results = interpret(definition, Call(operation, obj), reader=known)
            except InterpretationError as error:
                yield f"{operation} fails: {error}"
            else:
                if results.get("replica") == 0 or results.get("components") == []:
                    yield f"{operation} has no pods"
    yield from _unread(definition, obj)


def _unread(definition: Definition, obj: Object) -> Iterator[str]:
    for path in resources_left_out(definition, obj):
        if _OF_CLAIMS.isdisjoint(path):
            yield f"{json_pointer(path)} is not read"


def _schemas(definitions: Collection[GVK]) -> Iterator[tuple[GVK, JSON]]:
    for file in sources.files():
        text = file.read_text(encoding="utf-8")
        for crd in yaml.load_all(text, yaml.CSafeLoader) if any(gvk.group in text for gvk in definitions) else ():
            if crd and crd["kind"] == "CustomResourceDefinition":
                spec = crd["spec"]
                for version in spec["versions"]:
                    gvk = GVK(spec["group"], version["name"], spec["names"]["kind"])
                    if gvk in definitions:
                        yield gvk, version["schema"]["openAPIV3Schema"]


def _filled(schema: JSON) -> JSON:
    """Return the smallest value of a schema with CPU in every field for the requests of pods; None without one."""
    if not isinstance(schema, dict):
        return None
    fields = schema.get("properties", {})
    if "requests" in fields:
        return {"requests": {"cpu": "1"}}
    if isinstance(schema.get("additionalProperties"), dict):
        fields = {"key": schema["additionalProperties"]}
    filled = {name: value for name, field in fields.items() if (value := _filled(field))}
    if "items" in schema:
        element = _filled(schema["items"])
        return [element] if element else None
    return filled or None


def _objects(source: Path, pattern: re.Pattern[str]) -> Iterator[tuple[str, Object]]:
    """Yield the objects of samples with the kinds of a pattern, and where they are."""
    for file in sorted(source.rglob("*.y*ml")):
        place = file.relative_to(source)
        if _FOLDERS.isdisjoint(place.parts) or not pattern.search(text := file.read_text(encoding="utf-8")):
            continue
        # One by one: reading YAML takes long, and most documents are about other kinds.
        for number, document in enumerate(_END.split(text)):
            with suppress(ManifestError):
                for each in read_documents(document, file.name) if pattern.search(document) else ():
                    if each.value.get("kind"):
                        yield f"{source.name.partition('@')[0]}/{place} {number}", each.value
