"""Which layer answers a call, and what Karmada would do before and after it.

For each operation Karmada asks customizations of the cluster, webhooks, the scripts that it carries and its own code,
in this order; the first one that is enabled decides, also by an error (``pkg/resourceinterpreter/interpreter.go``).
"""

from typing import Final

from karta_interpreter.explain.explanation import Layer
from karta_interpreter.karta.definition import Definition
from karta_interpreter.operations import Operation
from karta_interpreter.operations.native_interpreters import CARRIED, NATIVE

_WITHOUT: Final = {
    Operation.RETAIN: "the template replaces the member's object",
    Operation.INTERPRET_REPLICA: "the object is no workload and has no replicas to divide",
    Operation.INTERPRET_COMPONENT: "the object has no components",
    Operation.REVISE_REPLICA: "every cluster gets the object unchanged",
    Operation.INTERPRET_STATUS: "the whole status is collected",
    Operation.AGGREGATE_STATUS: "the template's status is never written",
    Operation.INTERPRET_HEALTH: "every object counts as healthy",
    Operation.INTERPRET_DEPENDENCY: "the object has no dependencies",
}


def layers_of(definition: Definition, operation: Operation, origin: str) -> tuple[Layer, ...]:
    """Return the layers in Karmada's order; ``origin`` is where the definition comes from, such as ``catalogue``."""
    scripts, gvk = definition.scripts.of(operation), definition.gvk
    names = ", ".join(script.name for script in scripts)
    origin = origin or definition.source or "given"
    allowed = definition.answers(operation)
    carried, native = operation in CARRIED.get(gvk, ()), operation in NATIVE.get(gvk, ())
    after = "its own code" if native else f"nothing: {_WITHOUT[operation]}"
    left_out = "left out by the annotation karta-interpreter.io/operations" if definition.has_karta else "none"
    return (
        Layer(
            "customization",
            f"a ResourceInterpreterCustomization of the control plane with {operation}, if there is one",
        ),
        *([Layer("script", f"script of {names}", answers=True)] if scripts else []),
        Layer(
            "karta",
            f"Karta {definition.name} ({origin})" if definition.has_karta and allowed else left_out,
            answers=allowed and not scripts,
        ),
        Layer("karmada", "the script that it carries for the kind" if carried else after),
    )
