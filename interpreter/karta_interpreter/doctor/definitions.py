"""Kartas on karmada-apiserver: whether they are ready, and whether anybody is sent to ask them."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from karta_interpreter.doctor.result import Result, listed, ok, problem, warning
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.schema import gvk_of, name_of

_CHECK = "kartas"


@dataclass(frozen=True, slots=True)
class Stored:
    """A Karta as it is stored; ``conditions`` gives status and message by type."""

    name: str
    gvk: GVK | None
    conditions: dict[str, tuple[str, str]]

    def says(self, condition: str, status: str) -> bool:
        """Whether a condition has a status."""
        return self.conditions.get(condition, ("", ""))[0] == status

    def message(self, *conditions: str) -> str:
        """The message of the first of these conditions that is false, in one line."""
        texts = (self.conditions[each][1] for each in conditions if self.says(each, "False"))
        return " ".join(next(texts, "").split())


def read_stored(obj: Object) -> Stored:
    """What an object reports about itself."""
    conditions = edit.get(obj, ("status", "conditions"))
    entries = [each for each in conditions if isinstance(each, dict)] if isinstance(conditions, list) else []
    found = {str(each.get("type")): (str(each.get("status")), str(each.get("message", ""))) for each in entries}
    return Stored(name_of(obj), gvk_of(obj), found)


def judge_kartas(kartas: Sequence[Stored]) -> Iterator[Result]:
    """Judge their conditions."""
    for karta in kartas:
        if karta.says("Validated", "False"):
            found = f"{karta.name} is not valid: {karta.message('Validated')}"
            yield problem(_CHECK, found, "correct it; karta-interpreter validate shows every finding")
        elif karta.says("Ready", "False"):
            found = f"{karta.name} is not ready: {karta.message('CRDExists', 'Ready')}"
            yield warning(_CHECK, found, "install the CRD of its kind on karmada-apiserver, in the version it names")
    silent = [karta.name for karta in kartas if "Ready" not in karta.conditions]
    if silent:
        advice = "check that a server runs with --kubeconfig for this API server, and may patch kartas/status"
        yield warning(_CHECK, f"nobody has judged {listed(silent)}: there is no condition Ready", advice)
    ready = [karta for karta in kartas if karta.says("Ready", "True")]
    if ready:
        yield ok(_CHECK, f"{len(ready)} of {len(kartas)} {'is' if len(ready) == 1 else 'are'} ready")
    if not kartas:
        yield ok(_CHECK, "none is stored here; the server answers from its folders and catalogue")


def judge_coverage(kartas: Sequence[Stored], registered: Collection[GVK]) -> Iterator[Result]:
    """Check that each defined kind is registered, and defined once."""
    kinds = Counter(karta.gvk for karta in kartas if karta.gvk)
    for gvk in (gvk for gvk, times in kinds.items() if times > 1):
        names = listed(karta.name for karta in kartas if karta.gvk == gvk)
        yield problem(_CHECK, f"{gvk} has several definitions: {names}", "keep one; the others are not used")
    usable = [karta for karta in kartas if karta.gvk and not karta.says("Ready", "False")]
    missing = [f"{karta.name} ({karta.gvk})" for karta in usable if karta.gvk not in registered]
    if missing:
        advice = "start the server with --register, or apply what export webhook-configuration prints now"
        yield warning(_CHECK, f"defined, but not registered, so Karmada does not ask: {listed(missing)}", advice)
