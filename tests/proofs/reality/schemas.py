"""Holds the definitions of the catalogue to the CRDs that their controllers install."""

from collections.abc import Iterator, Sequence

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.verification import judge_crd
from tests.proofs.reality.controller import Controller, Kind
from tests.proofs.reality.findings import Finding, Outcome
from tests.proofs.rig.api import Object


def compare_schemas(crds: Sequence[Object], controllers: Sequence[Controller]) -> Iterator[Outcome]:
    """Yield one outcome for each kind of the controllers that has a CRD: what ``verify`` says of the CRD."""
    for controller in controllers:
        needed = [kind for each in controllers if each.name in controller.needs for kind in each.kinds]
        for kind in (kind for kind in controller.kinds if kind not in needed):
            for crd in (each for each in crds if _defines(each, kind)):
                outcome = Outcome(
                    f"CRD of {kind.api_version} {kind.name}", controller.name, kind.name, kind.api_version
                )
                outcome.findings += _compared(crd, kind) or [Finding("schema")]
                yield outcome


def _defines(crd: Object, kind: Kind) -> bool:
    spec, (group, _, version) = crd["spec"], kind.api_version.rpartition("/")
    versions = [each["name"] for each in spec["versions"]]
    return (spec["group"], spec["names"]["kind"]) == (group, kind.name) and version in versions


def _compared(crd: Object, kind: Kind) -> list[Finding]:
    group, _, version = kind.api_version.rpartition("/")
    entry = find_in_catalogue(GVK(group, version, kind.name))
    found = judge_crd(entry.definition, crd) if entry else ()
    return [Finding(each.reason, f"{each.field}: {each.reason}") for each in found]
