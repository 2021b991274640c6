"""Where our answer is not Karmada's, on purpose: all of it is here and in ``known.yaml``, each with its reason."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TypeAlias

from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.base.k8s.quantity import Quantity
from tests.proofs.conformance.agreement import agree
from tests.proofs.conformance.question import Outcome, Question

Judgement: TypeAlias = Callable[[Question, Outcome, Sequence[Outcome]], bool]


def known_difference(question: Question, answered: Outcome, outcomes: Sequence[Outcome]) -> str | None:
    """Give the reason for a difference, None when there is none.

    ``outcomes`` are the different answers that Karmada gave to the same question.
    """
    for reason, judgement in _JUDGEMENTS.items():
        if judgement(question, answered, outcomes):
            return reason
    return reasons().get(question.scripts[0].source)


def stale(differing: Iterable[Question]) -> list[str]:
    """Give the small scripts that have a reason to be answered differently, and are not."""
    return sorted(reasons().keys() - {question.scripts[0].source for question in differing})


@cache
def reasons() -> Mapping[str, str]:
    """Give the reason for each small script that is answered differently, by the script's line or text."""
    file = Path(__file__).parent / "known.yaml"
    (document,) = read_documents(file.read_text(), file.name)
    return {script: entry["reason"] for entry in document.value for script in entry["scripts"]}


def _untouched_digits(question: Question, answered: Outcome, outcomes: Sequence[Outcome]) -> bool:
    return any(agree(_rounded(answered, question), outcome) for outcome in outcomes)


def _rounded(outcome: Outcome, question: Question) -> Outcome:
    """Write the question's integers as Go does: with the fewest digits that tell which float is next to them."""
    digits = {
        text: str(int(Decimal(repr(float(text)))))
        for part in (question.object, question.observed, question.items)
        for text in _INTEGER.findall(json.dumps(part))
    }
    text = _INTEGER.sub(lambda match: digits.get(match.group(), match.group()), json.dumps(outcome.results))
    return Outcome(json.loads(text), outcome.error, outcome.defect)


def _time_of_day(question: Question, answered: Outcome, outcomes: Sequence[Outcome]) -> bool:
    if "os.date" not in question.scripts[0].text:
        return False
    timeless = _rounded(_without_times(answered), question)
    return any(agree(timeless, _without_times(outcome)) for outcome in outcomes)


def _without_times(outcome: Outcome) -> Outcome:
    return Outcome(json.loads(_TIME.sub("now", json.dumps(outcome.results))), outcome.error, outcome.defect)


def _too_many_replicas(_: Question, answered: Outcome, outcomes: Sequence[Outcome]) -> bool:
    return "more than replicas can be" in answered.error and all(
        (outcome.results or {}).get("replica") == _LEAST_INT32 for outcome in outcomes
    )


def _overflow(_: Question, answered: Outcome, __: Sequence[Outcome]) -> bool:
    if _TOO_LARGE.search(answered.error):
        return True
    amounts = _AMOUNT.findall(json.dumps(answered.results))
    return any(Quantity.parse(amount) >= _MOST[name] for name, amount in amounts)


def _empty_key(_: Question, __: Outcome, outcomes: Sequence[Outcome]) -> bool:
    return all("path cannot be empty" in outcome.error for outcome in outcomes)


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_INTEGER = re.compile(r"(?<=[ \[])-?\d{16,}(?=[,\]}])")
_AMOUNT = re.compile(r'"(cpu|memory)": "([^"]+)"')
_TOO_LARGE = re.compile(r'"\d{64}" is not a quantity|more than an int64 holds')
_MOST = {"cpu": Quantity.of_milli(2**63 - 1), "memory": Quantity.of_value(2**63 - 1)}
_LEAST_INT32 = -(2**31)
_JUDGEMENTS: Mapping[str, Judgement] = {
    "the time of day is in the answer": _time_of_day,
    "integers beyond 2^53 that a script does not touch keep their digits here, Karmada rounds them": _untouched_digits,
    "a count beyond int32 is an error here; in Go it is whatever the processor makes of it": _too_many_replicas,
    "Karmada cannot put back or remove an empty table below a key that is empty": _empty_key,
    "Karmada counts bytes and thousandths of CPU in 64 bits, which overflow; here that is an error": _overflow,
}
