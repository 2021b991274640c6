"""The customizations that Karmada bundles, with their cases, as Karmada's own test reads them.

The source of the rules is ``pkg/resourceinterpreter/default/thirdparty/thirdparty_test.go``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.base.k8s.values import GVK, JSON
from karta_interpreter.base.karmada import SLOTS
from karta_interpreter.languages.lua.customization import load_customizations
from karta_interpreter.languages.lua.script import Scripts
from tests.proofs.conformance.question import Question

_FOLDER = "pkg/resourceinterpreter/default/thirdparty/resourcecustomizations"
_ITEM_KEYS = ("status", "applied", "appliedMessage", "health")
_OPERATIONS = {operation.lower(): operation for operation in SLOTS}

_KINDS: Final = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
KINDS: Final = frozenset(_KINDS)
"""What is bundled."""
LATER: Final[Mapping[str, str]] = {kind: later[0] for kind, later in _KINDS.items() if later}
"""The version that the catalogue answers in place of a bundled one, which members serve no more."""


def name_of(gvk: GVK) -> str:
    """Return a kind as the tables have it.

    >>> name_of(GVK("kyverno.io", "v1", "Policy"))
    'kyverno.io/v1 Policy'
    """
    return f"{gvk.api_version} {gvk.kind}"


def answered(gvk: GVK) -> GVK:
    """Return the kind of the catalogue that stands for a bundled one: nearly always the same."""
    later = LATER.get(name_of(gvk))
    return gvk if later is None else GVK(gvk.group, later, gvk.kind)


@dataclass(frozen=True, slots=True)
class Case:
    """One question, and the results that upstream expects of it."""

    name: str
    source: str
    line: int
    question: Question
    expected: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Bundled:
    """The customization of one kind, with its cases."""

    gvk: GVK
    scripts: Scripts
    cases: tuple[Case, ...]


def load_bundle(karmada: Path) -> list[Bundled]:
    """Read the whole bundle from the folder of Karmada's source, sorted by kind."""
    found = [bundled for file in sorted((karmada / _FOLDER).rglob("customizations.yaml")) for bundled in _load(file)]
    return sorted(found, key=lambda bundled: str(bundled.gvk))


def _load(file: Path) -> Iterator[Bundled]:
    for loaded in load_customizations(file.read_text(), str(file)):
        assert loaded.gvk, f"{file} has no target"
        assert not [finding for finding in loaded.findings if finding.severity == "error"], loaded.findings
        cases = [
            case
            for suite in sorted((file.parent / "testdata").rglob("*.yaml"))
            for case in _cases(suite, loaded.scripts)
        ]
        yield Bundled(loaded.gvk, loaded.scripts, tuple(cases))


def _cases(file: Path, scripts: Scripts) -> Iterator[Case]:
    # Not karta_interpreter.engine.suites: it refuses keys that it does not know, and two upstream files have such.
    for document in read_documents(file.read_text(), str(file)):
        fields = document.value
        yield Case(fields["name"], str(file), document.line, _question(fields, scripts), fields.get("output") or {})


def _question(fields: dict[str, JSON], scripts: Scripts) -> Question:
    operation = _OPERATIONS[fields["operation"].lower()]
    objects = [fields[key] for key in ("desiredObj", "observedObj") if fields.get(key) is not None]
    assert len(objects) == (2 if operation == "Retain" else 1), "one object, and two for Retain"
    items = fields.get("statusItems")
    return Question(
        scripts=scripts.of(operation),
        object=objects[0],
        observed=objects[1] if operation == "Retain" else None,
        replicas=fields.get("inputReplicas", 0) if operation == "ReviseReplica" else None,
        items=None if items is None else tuple(map(_item, items)),
    )


def _item(item: dict[str, JSON]) -> JSON:
    """Give the item as it leaves Go's ``AggregatedStatusItem``: known keys only, and all but the first if not empty."""
    kept = {key: item[key] for key in _ITEM_KEYS if item.get(key) not in (None, "", False)}
    return {"clusterName": item.get("clusterName", ""), **kept}
