"""What a newer release of a kind's CRD changes of the parts that answers depend on."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import yaml

from docs.tools.upstreams import Upstream
from karta_interpreter.base.findings import DefinitionError
from karta_interpreter.base.k8s import GVK, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.definitions.openapi.catalogue import added_fields
from karta_interpreter.definitions.openapi.check import contradictions
from karta_interpreter.definitions.openapi.check.check import places_read
from karta_interpreter.definitions.openapi.schema import CustomKind, SchemaPath, below, parts_below
from tests.proofs.conformance.crds.sources import kubevirt_crds
from tests.proofs.drift.sources import Source

_ALWAYS: Final = ("crd-unread: ", "crd-unknown-field: ")
"""What is against a definition in any release: pods that it does not read, and what it reads and no release has."""
_COMPARED: Final = ("type", "default", "enum", "minimum", "maximum", "x-kubernetes-int-or-string")


@dataclass(frozen=True, order=True)
class Row:
    """One difference: the kind, the project with both versions, and what is different."""

    kind: str
    releases: str
    difference: str

    def __str__(self) -> str:
        return f"{self.kind}, {self.releases}: {self.difference}"


def crd_of(upstream: Upstream, sources: Iterable[Source], version: str, gvk: GVK) -> Object | None:
    """Return the CRD of a kind in a version of a project, None if the version or the CRD cannot be had."""
    for source in sources:
        if source.has(version):
            for path, text in source.files(version, upstream.crds):
                for crd in kubevirt_crds(text) if path.endswith(".go") else _objects(text):
                    spec = crd.get("spec") or {}
                    if (spec.get("group"), (spec.get("names") or {}).get("kind")) == (gvk.group, gvk.kind):
                        return crd
    return None


def _objects(text: str) -> Iterator[Object]:
    # Some are templates of charts, whose lines are no YAML.
    plain = "\n".join(line for line in text.splitlines() if "{{" not in line)
    for value in yaml.load_all(plain, yaml.CSafeLoader):
        if isinstance(value, dict) and value.get("kind") == "CustomResourceDefinition":
            yield value


def differences(definition: Definition, text: str, before: Object | None, after: Object) -> Iterator[str]:
    """Yield what is against a definition by a newer CRD and not by the older one, and what differs between both.

    Pods that no expression reads are yielded also if the older CRD has them, and fields that are read also if it does
    not. Fields that only the newer one has are yielded, and changes of the fields that expressions read.
    """
    gvk = definition.gvk
    known = {each for each in _findings(text, gvk, before) if not each.startswith(_ALWAYS)} if before else set()
    yield from (each for each in _findings(text, gvk, after) if each not in known)
    try:
        old, new = CustomKind.of(before or after, gvk.version), CustomKind.of(after, gvk.version)
    except DefinitionError:
        return
    for field in added_fields(below(old.schema, "spec"), below(new.schema, "spec")):
        yield f"{field.jq} is new"
    karta, _ = read_karta(definition.manifest)
    read = places_read(karta, old.schema) if karta else set()
    for path, was, now in _in_both(SchemaPath(("spec",)), below(old.schema, "spec"), below(new.schema, "spec")):
        names = [name for name in _COMPARED if was.get(name) != now.get(name)]
        if names and f"${path.jq}" in read:
            changes = ", ".join(f"{name} {was.get(name)} is {now.get(name)}" for name in names)
            yield f"{path.jq} is another part: {changes}"


def _findings(text: str, gvk: GVK, crd: Object) -> Iterator[str]:
    for finding in contradictions(text, str(gvk), [crd]):
        yield f"{finding.rule}: {finding.message}"


def _in_both(path: SchemaPath, old: Object, new: Object) -> Iterator[tuple[SchemaPath, Object, Object]]:
    """Yield the parts that two schemas have, with both schemas of each."""
    yield path, old, new
    newer = {at.jq: part for at, part in parts_below(path, new)}
    for at, part in parts_below(path, old):
        if at.jq in newer:
            yield from _in_both(at, part, newer[at.jq])
