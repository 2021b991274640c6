"""The interpreters that Karmada asks before this server, and whether they count as the definitions in use do.

Their scripts run in the processes for scripts, one comparison at a time, and registration never waits for one: until it
has a result, what is registered stays.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.k8s import GVK, Object, request_path
from karta_interpreter.base.karmada import GROUP, VERSION, Operation
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.sources import Budget, Snapshot
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.informer import Informer, Pace
from karta_interpreter.engine.registered.interpreters import (
    Customization,
    RegisteredWebhook,
    read_customization,
    read_webhooks,
)
from karta_interpreter.engine.registered.pairs import Agreement, Others, others_of
from karta_interpreter.engine.suites.agreement import compare_counts, examples_of
from karta_interpreter.languages.lua.script import Scripts

CUSTOMIZATIONS: Final = request_path(GROUP, VERSION, "resourceinterpretercustomizations")
MOST: Final = 64 * 2**20
"""The bytes of all customizations that are kept, each with its scripts that count."""

_OF_ONE: Final = 4096
_TRIES, _PAUSE = 3, 60.0
"""How often a comparison is made that took too long, and the seconds in between."""


class Comparison(Struct, frozen=True):
    """A comparison of a kind, with its result. Another definition or script is another comparison."""

    definition: Definition
    half: Operation
    scripts: Scripts
    tries: int = 0
    agreement: Agreement = Agreement()

    def is_about(self, definition: Definition, others: Others) -> bool:
        """Return whether it is about these."""
        return self.definition == definition and (self.half, self.scripts) == (others.half, others.scripts)


class OtherCounts:
    """Watches customizations, and compares those that answer a half of the counts. ``wake`` is called with a result."""

    def __init__(self, api: ApiServer, pace: Pace, wake: Callable[[], None]) -> None:
        self.customizations: Informer[Customization] = Informer(
            api, CUSTOMIZATIONS, read_customization, pace, Budget(MOST), weight
        )
        self._wake = wake
        self._comparisons: dict[GVK, Comparison] = {}
        self._asked = asyncio.Event()

    async def others(self, snapshot: Snapshot, configurations: Iterable[Object], name: str) -> dict[GVK, Others]:
        """Return who answers for the kinds of a snapshot before the configuration with a ``name``."""
        customizations = [*self.customizations.objects.values()]
        # In a thread: it takes microseconds for each kind and webhook.
        found = await asyncio.to_thread(_others, snapshot.entries.keys(), customizations, [*configurations], name)
        comparisons = dict[GVK, Comparison]()
        for gvk, others in found.items():
            if others.half and others.scripts:
                definition, before = snapshot.entries[gvk].definition, self._comparisons.get(gvk)
                is_same = before is not None and before.is_about(definition, others)
                comparisons[gvk] = before if before and is_same else Comparison(definition, others.half, others.scripts)
                found[gvk] = replace(others, agreement=comparisons[gvk].agreement)
        self._comparisons = comparisons
        if any(comparison.tries == 0 for comparison in comparisons.values()):
            self._asked.set()
        return found

    async def run(self) -> None:
        """Compare what is asked for, until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_PAUSE):
                    await self._asked.wait()
            self._asked.clear()
            for gvk in self._due():
                await self._compare(gvk)

    def _due(self) -> Iterable[GVK]:
        """Return the kinds without a result that have been tried least."""
        open_kinds = {
            gvk: item.tries
            for gvk, item in self._comparisons.items()
            if item.agreement.agrees is None and item.tries < _TRIES
        }
        return sorted(open_kinds, key=lambda gvk: (open_kinds[gvk], gvk))

    async def _compare(self, gvk: GVK) -> None:
        comparison = self._comparisons.get(gvk)
        if comparison is None:
            return
        agreement = await asyncio.to_thread(compare, comparison)
        if self._comparisons.get(gvk) is comparison:
            self._comparisons[gvk] = replace(comparison, tries=comparison.tries + 1, agreement=agreement)
            self._wake()


def compare(comparison: Comparison) -> Agreement:
    """Return the result of a comparison."""
    definition = comparison.definition
    return compare_counts(definition, comparison.half, comparison.scripts, examples_of(definition.gvk))


def weight(customization: Customization) -> int:
    """Return the bytes that a customization takes."""
    texts = (*(script.text for script in customization.scripts), *(customization.gvk or ()))
    return _OF_ONE + sum(len(text.encode()) for text in texts)


def _others(
    kinds: Iterable[GVK], customizations: Iterable[Customization], configurations: Iterable[Object], name: str
) -> dict[GVK, Others]:
    webhooks = list[RegisteredWebhook]()
    for configuration in configurations:
        # Karmada does not read it either, and it must not stop the registration of ours.
        with suppress(ClusterError):
            webhooks += read_webhooks(configuration)
    return others_of(kinds, customizations, webhooks, name)
