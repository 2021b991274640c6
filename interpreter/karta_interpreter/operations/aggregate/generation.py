"""The generation of an object that its controller has seen: ``observedGeneration``.

It is a number, but for a few kinds that write the number as text (Argo Rollouts, whose versions before 1.0 have a hash
there). Other text is ignored.
"""

import re
from collections.abc import Sequence

from karta_interpreter.k8s.values import JSON
from karta_interpreter.operations.call import StatusItem

_DIGITS = re.compile(r"[0-9]{1,19}")


def observed_generation(status: JSON) -> int | None:
    """Return the generation that a status was written for, None without one.

    >>> observed_generation({"observedGeneration": 3}), observed_generation({"observedGeneration": "3"})
    (3, 3)
    """
    observed = status.get("observedGeneration") if isinstance(status, dict) else None
    if isinstance(observed, str) and _DIGITS.fullmatch(observed):
        return int(observed)
    return observed if isinstance(observed, int) and not isinstance(observed, bool) else None


def agreed_generation(items: Sequence[StatusItem], template_generation: int | None) -> JSON:
    """Return the template's generation, as the members write theirs, when all have caught up with it; else None.

    As Karmada's native interpreter has it (``native/aggregatestatus.go``): a member is current when its controller
    observed the member object's generation, and that object was made from the template's generation. No member has
    when there is none.
    """
    if (
        not items
        or template_generation is None
        or not all(_has_caught_up(item.status, template_generation) for item in items)
    ):
        return None
    is_text = any(isinstance(item.status["observedGeneration"], str) for item in items)
    return str(template_generation) if is_text else template_generation


def _has_caught_up(status: JSON, template_generation: int) -> bool:
    observed = observed_generation(status)
    if observed is None:
        return False
    generation, of_template = status.get("generation"), status.get("resourceTemplateGeneration")
    if not (isinstance(generation, int) and isinstance(of_template, int)):
        return False
    return observed >= generation and of_template >= template_generation
