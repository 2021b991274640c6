"""Karta definitions as answers to Karmada's resource interpreter, and as a library for Python programs.

The names below are the library; see docs/library.md. They are loaded when they are first asked for: a program that
only wants the version, or the server, pays for none of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karta_interpreter.base.errors import (
        ComponentNotFoundError,
        InstanceCountMismatchError,
        InterpreterError,
        PathNotWritableError,
        WorkloadError,
        WriteVerificationError,
    )
    from karta_interpreter.base.findings import DefinitionError, Finding, Severity
    from karta_interpreter.base.k8s.values import GVK
    from karta_interpreter.definitions.karta.model import Topology
    from karta_interpreter.engine.explain import Explanation, Fact, InterpreterLayer, Place
    from karta_interpreter.engine.verification import Judgement, Question, Verdict
    from karta_interpreter.engine.workload import (
        Attribution,
        Component,
        ComponentNode,
        Condition,
        EffectiveMember,
        FragmentedPodSpec,
        Instance,
        InstanceNode,
        Karta,
        PodGroup,
        PodNode,
        Scale,
        Status,
        StatusMatch,
        StrayPod,
        SubGroup,
        Workload,
        WorkloadTree,
    )

__version__ = "0.1.0"

__all__ = [
    "GVK",
    "Attribution",
    "Component",
    "ComponentNode",
    "ComponentNotFoundError",
    "Condition",
    "DefinitionError",
    "EffectiveMember",
    "Explanation",
    "Fact",
    "Finding",
    "FragmentedPodSpec",
    "Instance",
    "InstanceCountMismatchError",
    "InstanceNode",
    "InterpreterError",
    "InterpreterLayer",
    "Judgement",
    "Karta",
    "PathNotWritableError",
    "Place",
    "PodGroup",
    "PodNode",
    "Question",
    "Scale",
    "Severity",
    "Status",
    "StatusMatch",
    "StrayPod",
    "SubGroup",
    "Topology",
    "Verdict",
    "Workload",
    "WorkloadError",
    "WorkloadTree",
    "WriteVerificationError",
]

_ELSEWHERE = {
    "Explanation": "karta_interpreter.engine.explain",
    "Fact": "karta_interpreter.engine.explain",
    "GVK": "karta_interpreter.base.k8s.values",
    "Topology": "karta_interpreter.definitions.karta.model",
    "InterpreterLayer": "karta_interpreter.engine.explain",
    "Judgement": "karta_interpreter.engine.verification",
    "Question": "karta_interpreter.engine.verification",
    "Verdict": "karta_interpreter.engine.verification",
    "Place": "karta_interpreter.engine.explain",
    "DefinitionError": "karta_interpreter.base.findings",
    "Finding": "karta_interpreter.base.findings",
    "Severity": "karta_interpreter.base.findings",
}

if not TYPE_CHECKING:  # a type checker would take it as leave to import any name

    def __getattr__(name: str) -> object:
        if name not in __all__:
            is_method = name[:1] != "_" and hasattr(import_module("karta_interpreter.engine.workload").Karta, name)
            findings = import_module("karta_interpreter.base.findings")
            hint = f"write Karta.{name}" if is_method else findings.did_you_mean(name, __all__)
            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r}; {hint}", name=name, obj=import_module(__name__)
            )
        room = "karta_interpreter.base.errors" if name.endswith("Error") else "karta_interpreter.engine.workload"
        # Kept, so that this function is called once for each name.
        value = globals()[name] = getattr(import_module(_ELSEWHERE.get(name, room)), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
