"""Fights between Karmada and controllers of members, which the server shows among its metrics."""

from collections.abc import Iterator
from http import HTTPStatus
from itertools import islice
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

from karta_interpreter.base.findings import count
from karta_interpreter.webhook.doctor.connection import Reply
from karta_interpreter.webhook.doctor.result import CheckResult, warning

METRICS: Final = "/metrics"
_METRIC: Final = "karta_interpreter_contention"
_MOST, _LONGEST = 20, 600
_NO_LINE: Final = (
    "no line of the annotation karta-interpreter.io/retain ends it: let the controller leave the field alone, or the "
    "template leave it out"
)


def judge_contention(reply: Reply) -> Iterator[CheckResult]:
    """List the fights in an answer of `METRICS`, with the line that ends each; nothing for any other answer."""
    if reply.status != HTTPStatus.OK:
        return
    lines = reply.body.decode(errors="replace").splitlines()
    series = islice((line for line in lines if line.startswith(f"{_METRIC}{{")), _MOST)
    try:
        samples = [each for family in text_string_to_metric_families("\n".join(series)) for each in family.samples]
    except (ValueError, LookupError):
        return
    for labels, value in ((each.labels, each.value) for each in samples):
        place = f"{labels.get('kind')}: {labels.get('field')}"[:_LONGEST]
        found = (
            f"{place} is overwritten in turns by Karmada and a controller of a member, in {count(int(value), 'object')}"
        )
        line = labels.get("retain", "")[:_LONGEST]
        advice = f"the log names them; this line of the annotation karta-interpreter.io/retain ends it: {line}"
        yield warning("contention", found, advice if line else _NO_LINE)
