"""Which kinds are served, of all that the sources have."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from karta_interpreter.findings import Finding, warning
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.sources.overrides import Overrides
from karta_interpreter.sources.precedence import Layer
from karta_interpreter.suggestion import did_you_mean

_ALL = "*"


@dataclass(frozen=True, slots=True)
class Selection:
    """The kinds that are named by ``kinds``, or all where that is empty, without those that ``without`` names.

    A name is a kind in any case, ``apiVersion/Kind``, or ``apiVersion/*`` for all kinds of an API version.

    >>> Selection(without=("apps/v1/*", "Job")).takes(GVK("batch", "v1", "Job"))
    False
    """

    kinds: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def takes(self, gvk: GVK) -> bool:
        """Whether a kind is served."""
        names = _names(gvk)
        named = not self.kinds or any(kind.lower() in names for kind in self.kinds)
        return named and not any(kind.lower() in names for kind in self.without)

    def layer(self, layer: Layer) -> Layer:
        """What is taken of a source; what cannot be read may be of any kind."""
        if not (self.kinds or self.without):
            return layer
        return Layer(
            tuple(entry for entry in layer.entries if self.takes(entry.definition.gvk)),
            tuple(broken for broken in layer.quarantined if broken.gvk is None or self.takes(broken.gvk)),
        )

    def overrides(self, overrides: Overrides) -> Overrides:
        """The scripts that are taken: one alone would answer for its kind as well."""
        taken = {gvk: scripts for gvk, scripts in overrides.scripts.items() if self.takes(gvk)}
        return replace(overrides, scripts=taken)

    def findings(self, known: Iterable[GVK]) -> Iterator[Finding]:
        """A warning for each name that fits none of the kinds that the sources have."""
        known = sorted(known)
        for flag, kinds in (("--kinds", self.kinds), ("--without", self.without)):
            for kind in kinds:
                if not any(kind.lower() in _names(gvk) for gvk in known):
                    hint = did_you_mean(kind, _spellings(kind, known))
                    yield warning("unknown-kind", (), f"{flag} {kind}: there is no definition for it", hint)


EVERYTHING = Selection()


def _names(gvk: GVK) -> frozenset[str]:
    version = f"{gvk.api_version}/".lower()
    return frozenset({gvk.kind.lower(), version + gvk.kind.lower(), version + _ALL})


def _spellings(kind: str, known: Iterable[GVK]) -> list[str]:
    """The known names of the form that one has."""
    if "/" not in kind:
        return sorted({gvk.kind for gvk in known})
    ending = [_ALL] if kind.endswith(_ALL) else []
    return list(dict.fromkeys(f"{gvk.api_version}/{name}" for gvk in known for name in ending or [gvk.kind]))
