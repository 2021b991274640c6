"""Write the names of the components of all suites' objects into facts: ``python -m tests.catalogue.component_names``.

Karmada keeps the components of an object that it has accepted, and stops the propagation if a later answer has other
names (karmada-io/karmada#7841). So a name changes only for a reason, which the commit and the CHANGELOG give.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import yaml

from docs.tools.facts import NAME
from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import PATHS, answers, entries_of

_HEAD: Final = "# python -m tests.catalogue.component_names writes the rest.\n"


def names_of(definition: Definition, cases: Sequence[Case]) -> dict[str, str]:
    """Return the names of the components of each object of the cases, by the first case that has it."""
    names: dict[str, str] = {}
    for case, components in components_of_cases(definition, cases):
        key = f"{Path(case.source).stem}, {case.name}"
        names[key] = ", ".join(component["name"] for component in components)
    return names


def components_of_cases(definition: Definition, cases: Sequence[Case]) -> Iterator[tuple[Case, list[Object]]]:
    """Yield the components of each object of the cases, with the first case that has it."""
    seen = list[Object]()
    for case in cases:
        obj = case.call.object
        if obj in seen:
            continue
        seen.append(obj)
        with suppress(InterpretationError):
            call = Call(Operation.INTERPRET_COMPONENT, obj)
            yield case, list(interpret(definition, call, reader=Known.of(case.references))["components"] or ())


def main() -> None:
    """Write the end of each file of facts."""
    for path in PATHS:
        names = {
            entry.definition.gvk.version: names_of(entry.definition, entry.cases)
            for entry in filter(answers(Operation.INTERPRET_COMPONENT), entries_of(path))
            if entry.definition
        }
        file = path.with_name(NAME)
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        rest = _HEAD + yaml.safe_dump({"components": names}, width=200, allow_unicode=True) if names else ""
        file.write_text(text.partition(_HEAD)[0] + rest, encoding="utf-8")


if __name__ == "__main__":
    main()
