"""What was asked and answered in a run: from the metrics of our servers and of Karmada."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

_SAMPLE = re.compile(r"^(\w+)\{(.*)\} (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_SEEN = "rest_client_requests_total"
_CALLS, _SECONDS = "karta_interpreter_calls_total", "karta_interpreter_call_seconds"


@dataclass
class Row:
    """The calls of one operation; ``buckets`` count those up to a number of seconds."""

    calls: float = 0
    failed: float = 0
    seconds: float = 0
    buckets: dict[float, float] = field(default_factory=lambda: defaultdict(float))

    def quantile(self, share: float) -> float:
        """Return the upper bound, in seconds, of the bucket where that share of the calls is reached."""
        return next((bound for bound, count in sorted(self.buckets.items()) if count >= share * self.calls), 0.0)


@dataclass
class Ledger:
    """The calls of all servers that have been read."""

    rows: dict[str, Row] = field(default_factory=lambda: defaultdict(Row))

    def read(self, text: str) -> None:
        """Add what one server tells at ``/metrics``."""
        for name, labels, value in _SAMPLE.findall(text):
            self._add(name, dict(_LABEL.findall(labels)), float(value))

    def table(self) -> str:
        lines = [f"{'operation':<22}{'calls':>8}{'mean':>10}{'p50 <':>10}{'p99 <':>10}{'failed':>8}"]
        for operation, row in sorted(self.rows.items()):
            times = (row.seconds / max(row.calls, 1), row.quantile(0.5), row.quantile(0.99))
            columns = "".join(f"{seconds * 1000:>7.2f} ms" for seconds in times)
            lines.append(f"{operation:<22}{row.calls:>8.0f}{columns}{row.failed:>8.0f}")
        return "\n".join(lines)

    def _add(self, name: str, labels: dict[str, str], value: float) -> None:
        row = self.rows[labels["operation"]] if "operation" in labels else Row()
        if name == _CALLS:
            row.calls += value
            row.failed += value if labels["outcome"] != "success" else 0
        elif name == f"{_SECONDS}_sum":
            row.seconds += value
        elif name == f"{_SECONDS}_bucket":
            row.buckets[float(labels["le"])] += value


def counted(text: str) -> dict[str, int]:
    """Return how often each operation was asked for, by what one server has at ``/metrics``."""
    ledger = Ledger()
    ledger.read(text)
    return {operation: int(row.calls) for operation, row in ledger.rows.items()}


def requests_seen(text: str, host: str) -> Counter[str]:
    """Return how often karmada-controller-manager got each HTTP code from a host at any port, by its own metrics."""
    seen = Counter[str]()
    for name, labels, value in _SAMPLE.findall(text):
        label = dict(_LABEL.findall(labels))
        if name == _SEEN and label["host"].partition(":")[0] == host:
            seen[label["code"]] += int(float(value))
    return seen
