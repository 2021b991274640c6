"""Checks the Kartas of a text against the OpenAPI schemas of CustomResourceDefinitions. Findings have their places.

An expression is followed through the schema instead of through an object: its outputs are a set of shapes. No object is
read here, and no expression runs.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from karta_interpreter.base.errors import ManifestError
from karta_interpreter.base.findings import DefinitionError, Finding, did_you_mean, error, warning
from karta_interpreter.base.ignores import placed_objects, unignored
from karta_interpreter.base.k8s import GVK, JSON, Object, edit
from karta_interpreter.definitions.karta import ROOT_KIND, kinds_of
from karta_interpreter.definitions.karta.loading import KINDS_OF_DEFINITIONS
from karta_interpreter.definitions.karta.model import KartaResource
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.definitions.openapi.catalogue import catalogue_schemas
from karta_interpreter.definitions.openapi.check.check import check, known_contradictions
from karta_interpreter.definitions.openapi.schema import CustomKind

_MOST_KINDS: Final = 20
_OF_ONE_RELEASE: Final = frozenset({"crd-immutable", "crd-unread"})
"""The findings that hold if one release has them."""


def contradictions(text: str, source: str, crds: Sequence[Object] | None) -> Iterator[Finding]:
    """Yield the contradictions between the CRDs and the readable Kartas of a text, or without CRDs within these."""
    try:
        objects = placed_objects(text, source, *KINDS_OF_DEFINITIONS)
    except ManifestError:  # a separate finding
        return
    for value, position, ignores in objects:
        placed = [*map(position.locate, object_contradictions(value, crds))]
        hidden = {(finding.rule, finding.line) for finding in placed}
        # An ignore that hides nothing may be for a CRD that is not given.
        used = [ignore for ignore in ignores if crds is not None or (ignore.rule, ignore.line) in hidden]
        yield from unignored(placed, used, source, crd=True)


def object_contradictions(value: JSON, crds: Sequence[Object] | None = None) -> list[Finding]:
    """Return the contradictions between the CRDs and a Karta object.

    Without CRDs they are those to the kind's schema in the catalogue, and to that of pods. A
    Karta with other errors has no definition, but is compared, too. Each version that it describes may have a part that
    another one lacks.
    """
    kinds = kinds_of(value) if isinstance(value, dict) else ()
    karta = read_karta(value)[0] if kinds else None
    if karta is None:
        return []
    if crds is None:
        schemas = catalogue_schemas()
        return _agreed([known_contradictions(karta, schemas.get(gvk)) for gvk in kinds])
    return _with_all(karta, kinds, crds)


def _with_all(karta: KartaResource, gvks: Sequence[GVK], crds: Sequence[Object]) -> list[Finding]:
    gvk = gvks[0]
    crds_of_kind = [crd for crd in crds if (_spec(crd, "group"), _spec(crd, "names", "kind")) == (gvk.group, gvk.kind)]
    if not crds_of_kind:
        kinds = sorted({f"{_spec(crd, 'names', 'kind')}.{_spec(crd, 'group')}" for crd in crds})
        given_kinds = f"the given CRDs are those of {', '.join(kinds)}" if len(kinds) <= _MOST_KINDS else ""
        hint = did_you_mean(f"{gvk.kind}.{gvk.group}", kinds, given_kinds)
        return [warning("crd-missing", ROOT_KIND, f"there is no CRD for {gvk}", hint)]
    checks: list[list[Finding]] = []
    without: list[Finding] = []
    for crd, version in product(crds_of_kind, (gvk.version for gvk in gvks)):
        try:
            kind = CustomKind.of(crd, version)
            checks.append(check(karta, kind.schema, kind.scale_path))
        except DefinitionError as err:
            without.append(error("crd-version", (*ROOT_KIND, "version"), str(err)))
    # A release without the version contradicts nothing else.
    agreed = _agreed(checks or [without[:1]])
    # A part that one release has is there for workloads of that release, and so is a rule.
    more = [finding for findings in checks for finding in findings if finding.rule in _OF_ONE_RELEASE]
    return list(dict.fromkeys([*agreed, *more]))


def _agreed(checks: Sequence[Sequence[Finding]]) -> list[Finding]:
    """Return the findings of the first check that all others share. Their hints may list other names."""
    first, *others = checks
    shared = [{(finding.path, finding.rule, finding.span) for finding in other} for other in others]
    return [finding for finding in first if all((finding.path, finding.rule, finding.span) in keys for keys in shared)]


def _spec(crd: Object, *names: str) -> object:
    return edit.get(crd, ("spec", *names))
