"""The rows of the table that an audit prints: one for each attack."""

from collections.abc import Mapping

from tests.proofs.audit.found import Found, Waits

HEADS = ("attack", "tries", "answers", "call, worst ms", "health, worst ms", "lost", "MiB, peak", "verdict")
_MOST_KINDS = 6
_MILLISECONDS = 1000


def row(name: str, found: Found, waits: Mapping[str, tuple[Waits, Waits]], peak: float, objections: int) -> list[str]:
    """Return the cells of one attack; ``waits`` has those of the attacked server and of the control for each probe."""
    lost = sum(attacked.lost for attacked, _ in waits.values())
    return [
        name,
        f"{found.tries:,}",
        _answers(found.answers),
        _pair(waits.get("call")),
        _pair(waits.get("health")),
        str(lost),
        f"{peak:.0f}",
        f"{objections} bounds missed" if objections > 1 else "1 bound missed" if objections else "ok",
    ]


def _answers(answers: Mapping[str, int]) -> str:
    """Return the kinds of answers, the most frequent ones first, and the sum of the rest."""
    ordered = sorted(answers.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{kind} {count:,}" for kind, count in ordered[:_MOST_KINDS]]
    rest = sum(count for _, count in ordered[_MOST_KINDS:])
    return ", ".join([*shown, f"other {rest:,}"] if rest else shown)


def _pair(waits: tuple[Waits, Waits] | None) -> str:
    """Return the worst wait next to that of the control."""
    if waits is None:
        return "-"
    return " / ".join(f"{one.worst * _MILLISECONDS:.0f}" for one in waits)
