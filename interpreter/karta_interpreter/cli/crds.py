"""Compares definitions with the CRDs of their kinds: the findings of ``validate --crd``."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from karta_interpreter.cli.definitions import Given
from karta_interpreter.crd import check
from karta_interpreter.errors import DefinitionError, ManifestError
from karta_interpreter.findings import Finding, error, warning
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.loading import objects_in
from karta_interpreter.karta.model import Karta
from karta_interpreter.karta.scaffold import CustomKind
from karta_interpreter.karta.schema import gvk_of, read_karta
from karta_interpreter.sources.files import decode
from karta_interpreter.suggestion import closest

_MOST = 20
"""How many kinds one hint lists."""
_KIND = ("spec", "structureDefinition", "rootComponent", "kind")


def crd_findings(given: Iterable[Given], crds: Sequence[Object]) -> Iterator[Finding]:
    """Yield what the CRDs contradict in all readable Kartas of files, each finding with its place.

    Several CRDs of one kind are releases of it: only what all of them contradict is a finding.
    """
    for file in (file for each in given for file in each.files):
        text, reason = decode(file.content or b"")
        if not reason:
            yield from contradictions(text, str(file.path), crds)


def contradictions(text: str, source: str, crds: Sequence[Object]) -> Iterator[Finding]:
    """Yield what the CRDs contradict in the readable Kartas of a text."""
    try:
        objects = objects_in(text, source)
    except ManifestError:  # a finding of its own
        return
    for document, at, value in objects:
        gvk = gvk_of(value) if isinstance(value, dict) else None
        karta = read_karta(value)[0] if gvk else None
        if gvk is None or karta is None:
            continue
        for finding in _findings(karta, gvk, crds):
            line, column = document.position((*at, *finding.path))
            yield replace(finding, source=source, line=line, column=column)


def _findings(karta: Karta, gvk: GVK, crds: Sequence[Object]) -> list[Finding]:
    own = [crd for crd in crds if (_spec(crd, "group"), _spec(crd, "names", "kind")) == (gvk.group, gvk.kind)]
    if not own:
        kinds = sorted({f"{_spec(crd, 'names', 'kind')}.{_spec(crd, 'group')}" for crd in crds})
        near = closest(f"{gvk.kind}.{gvk.group}", kinds)
        known = f"the given CRDs are those of {', '.join(kinds)}" if len(kinds) <= _MOST else ""
        hint = f"did you mean {near}?" if near else known
        return [warning("crd-missing", _KIND, f"there is no CRD for {gvk}", hint)]
    found: list[list[Finding]] = []
    for crd in own:
        try:
            found.append(check(karta, CustomKind.of(crd, gvk.version).schema))
        except DefinitionError as err:
            found.append([error("crd-version", (*_KIND, "version"), str(err))])
    first, *others = found
    return [finding for finding in first if all(_is_among(finding, other) for other in others)]


def _is_among(finding: Finding, others: Iterable[Finding]) -> bool:
    """Whether another release contradicts the same place; it may list other names in its hint."""
    return any((each.path, each.rule, each.span) == (finding.path, finding.rule, finding.span) for each in others)


def _spec(crd: Object, *names: str) -> object:
    return edit.get(crd, ("spec", *names))
