"""Kartas of built-in kinds that somebody keeps on the control plane are answered in the server's own process."""

from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_object
from karta_interpreter.webhook.answering import lanes
from tests.catalogue.entries import applies

VALUES = 150
"""Those of an ordinary Deployment, as far as its definition reads them."""


@applies(lambda entry: entry.definition is not None and entry.definition.gvk.group in ("", "apps", "batch"))
def test_copy_of_built_in_karta_takes_few_steps(definition: Definition) -> None:
    copied = load_object(definition.manifest, "copy").definition
    assert copied
    assert copied.steps * VALUES <= lanes._MOST_STEPS  # noqa: SLF001 - nothing else tells of it
