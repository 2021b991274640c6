"""The pods in the CRDs of the catalogue are read by its definitions, or their comments have the reason.

So are bounds of what ReviseReplica writes, and fields that the CRD requires of a status or fills in.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from karta_interpreter.base.k8s.manifest import read_objects
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.openapi.check import contradictions
from tests.catalogue.entries import entries
from tests.proofs.conformance.crds.sources import BUILT_IN

_RULES = frozenset(("crd-unread", "crd-bound", "crd-required-status"))


@dataclass
class Tally:
    """The kinds whose CRD was read, those without one, and the parts that no expression reads."""

    kinds: int = 0
    without: list[str] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        without = f"no CRD of {len(self.without)}: {', '.join(self.without)}"
        return f"{self.kinds} kinds, {len(self.unexplained)} unexplained parts\n  {without}"

    def failures(self) -> Iterator[str]:
        """Yield the unexplained parts."""
        yield from self.unexplained
        if not self.kinds:
            yield "no CRD was read"


def compare(files: Iterable[Path]) -> Tally:
    """Look for unread parts in the CRDs of all kinds that the catalogue answers for."""
    tally, crds = Tally(), crds_of(files)
    for definition, text in [(entry.definition, entry.text) for entry in entries()]:
        assert definition
        gvk = definition.gvk
        checked = [list(contradictions(text, str(gvk), [crd])) for crd in crds.get((gvk.group, gvk.kind), ())]
        served = [findings for findings in checked if not any(each.rule == "crd-version" for each in findings)]
        if not served:
            tally.without += [] if f"{gvk.api_version} ".startswith(BUILT_IN) else [f"{gvk.api_version} {gvk.kind}"]
            continue
        tally.kinds += 1
        unexplained = [each for findings in served for each in findings if each.rule in _RULES]
        tally.unexplained += [f"{gvk}: {each.message}; {each.hint}" for each in unexplained]
    return tally


def crds_of(files: Iterable[Path]) -> dict[tuple[str, str], list[Object]]:
    """Return the CRDs in files, by group and kind."""
    crds = defaultdict(list)
    for file in files:
        # Some are templates of charts, whose lines are no YAML.
        lines = file.read_text(encoding="utf-8").splitlines()
        text = "\n".join(line for line in lines if "{{" not in line)
        for _, _, value in read_objects(text, str(file), "CustomResourceDefinition"):
            crds[value["spec"]["group"], value["spec"]["names"]["kind"]].append(value)
    return crds
