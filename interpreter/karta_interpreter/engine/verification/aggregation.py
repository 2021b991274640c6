"""AggregateStatus and the CRD: does a merged status have all fields, and does the served version have those read?"""

from collections.abc import Iterator
from typing import Final

from karta_interpreter.base.findings import DefinitionError, Severity, format_path, listed
from karta_interpreter.base.k8s import Object, get, objects_in
from karta_interpreter.definitions.karta import OF_NO_CLUSTER, Definition
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.definitions.openapi.catalogue import added_fields, catalogue_schemas
from karta_interpreter.definitions.openapi.check.check import check
from karta_interpreter.definitions.openapi.schema import CustomKind, below
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from karta_interpreter.engine.verification.evidence import Evidence
from karta_interpreter.engine.verification.judgement import Judgement, Question, Verdict

_FIELD: Final = "metadata.annotations.karta-interpreter.io/aggregate"


def judge_status(definition: Definition, evidence: Evidence) -> Iterator[Judgement]:
    """Merge the status with itself: which fields does the merged status lack?"""
    status = interpret(definition, Call(Operation.INTERPRET_STATUS, evidence.object), reader=evidence.reader)["status"]
    if not status:
        yield Judgement(Question.STATUS, Verdict.UNJUDGED, "it has no status")
        return
    template = {name: value for name, value in evidence.object.items() if name != "status"}
    items = tuple(StatusItem(cluster, status, health="Healthy") for cluster in ("a", "b"))
    call = Call(Operation.AGGREGATE_STATUS, template, items=items)
    merged = interpret(definition, call, reader=evidence.reader)["aggregatedStatus"].get("status") or {}
    for name in sorted(evidence.object["status"].keys() - merged.keys() - {"observedGeneration"}):
        is_kept = definition.annotations.aggregate.get(("status", name)) not in OF_NO_CLUSTER
        if is_kept and evidence.object["status"][name] not in (None, {}, []):
            yield Judgement(Question.STATUS, Verdict.DIFFERS, f"a merged status lacks .status.{name}", "", _FIELD)


def judge_crd(definition: Definition, crd: Object) -> Iterator[Judgement]:
    """Compare a definition with the version of the CRD that the member serves."""
    version = definition.gvk.version
    versions = {str(version.get("name")): version for version in objects_in(get(crd, ("spec", "versions")))}
    if not versions.get(version, {}).get("served"):
        served = ", ".join(name for name, entry in versions.items() if entry.get("served")) or "nothing"
        yield Judgement(
            Question.CRD,
            Verdict.DIFFERS,
            f"the CRD does not serve {version}, only {served}",
            "",
            "spec.structureDefinition.rootComponent.kind",
        )
        return
    try:
        kind = CustomKind.of(crd, version)
    except DefinitionError as error:
        yield Judgement(Question.CRD, Verdict.UNJUDGED, str(error))
        return
    karta, _ = read_karta(definition.manifest)
    contradictions = check(karta, kind.schema, kind.scale_path) if karta else []
    errors = [finding for finding in contradictions if finding.severity is Severity.ERROR]
    # A field that several expressions read is one difference.
    for finding in {finding.message: finding for finding in reversed(errors)}.values():
        place = format_path(finding.path)
        yield Judgement(Question.CRD, Verdict.DIFFERS, finding.message, finding.expression, place, finding.hint)
    yield from _newer_fields(definition, kind)


def _newer_fields(definition: Definition, served: CustomKind) -> Iterator[Judgement]:
    """Name the fields that the release has not which a definition of the catalogue was written from."""
    known = catalogue_schemas().get(definition.gvk)
    if known is None or known.crd not in definition.annotations.written_from.split(", "):
        return
    fields = [field.jq for field in added_fields(below(known.schema, "spec"), below(served.schema, "spec"))]
    if fields:
        reason = (
            f"the CRD has fields that {known.crd}, which the definition was written from, has not: {listed(fields)}"
        )
        yield Judgement(Question.CRD, Verdict.UNJUDGED, reason)
