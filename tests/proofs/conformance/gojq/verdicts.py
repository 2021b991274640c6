"""Which expressions a definition may have: our verdict compared with gojq's, and what Karta's library allows of it."""

from collections.abc import Sequence

import jq

from karta_interpreter.base.errors import QueryError
from karta_interpreter.languages.jq import Query
from tests.proofs.conformance.gojq.peer import Gojq, Reading
from tests.proofs.conformance.gojq.tally import Tally

_BATCH = 500
_BANNED = frozenset(("del", "range", "paths", "recurse", "walk", "repeat"))
"""What Karta's library does not let an expression call."""
_OUTSIDE = frozenset(
    (
        *("env", "$ENV", "input", "inputs", "input_filename", "input_line_number", "$__prog_args"),
        *("debug", "stderr", "halt", "halt_error", "get_search_list", "modulemeta"),
    )
)


def compare(gojq: Gojq, texts: Sequence[str], variables: frozenset[str], tally: Tally) -> list[Query]:
    """Count the verdicts on expressions that may read ``variables``; return those that both sides accept."""
    accepted: list[Query] = []
    bindings = "".join(f"null as ${name} | " for name in sorted(variables))
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        programs = [f"{bindings}{text}\n" for text in batch]
        for text, program, reading in zip(batch, programs, gojq.read(programs), strict=True):
            query, message = _compiled(text, variables)
            theirs = _accepts(reading)
            tally.errors += query is None
            tally.count(
                "a verdict", text, _words(query is not None), _words(theirs), _reason(reading, message, program)
            )
            accepted += [query] if query and theirs else []
    return accepted


def _compiled(text: str, variables: frozenset[str]) -> tuple[Query | None, str]:
    try:
        return Query.compile(text, variables), ""
    except QueryError as error:
        return None, str(error)


def _accepts(reading: Reading) -> bool:
    known = not reading.parsing and not reading.compiling
    return known and not reading.descends and not reading.operators and not reading.calls & _BANNED


def _words(accepted: bool) -> str:
    return "accepted" if accepted else "refused"


def _reason(reading: Reading, message: str, program: str) -> str:
    """Why the verdicts may differ."""
    if not message:
        if reading.parsing.startswith("invalid token"):
            return "a number may be followed by a word at once, as in jq"
        return "`$__loc__` is known" if "$__loc__" in reading.compiling else ""
    if reading.calls & _OUTSIDE:
        return "what reaches out of an expression is refused"
    if "is not a regular expression" in message:
        return "a pattern is read when its definition is loaded"
    if "is not a format" in message:
        return "an unknown format is refused before it is used"
    return "" if _is_jq(program) else "what jq cannot read is refused: it answers what is bounded"


def _is_jq(program: str) -> bool:
    try:
        jq.compile(program)
    except ValueError:
        return False
    return True
