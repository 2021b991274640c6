"""Which calls of the day a script of the catalogue answers."""

from tests.proofs.benchmarks.waits import without_scripts
from tests.support.rows import rows


@rows(
    ("group", "kind", "operation", "is_left", "reason"),
    [
        ("apps.kruise.io", "BroadcastJob", "InterpretReplica", False, "a script says that there is nothing to divide"),
        ("apps.kruise.io", "BroadcastJob", "InterpretHealth", True, "its other operations have no script"),
        ("apps.kruise.io", "CloneSet", "Retain", True, "its script has become a rule"),
        ("example.io", "Unknown", "Retain", True, "the catalogue has no such kind"),
    ],
)
def test_calls_without_scripts(group: str, kind: str, operation: str, is_left: bool, reason: str) -> None:
    call = f'{{"kind":{{"group":"{group}","version":"v1alpha1","kind":"{kind}"}},"operation":"{operation}"}}'.encode()
    assert without_scripts([call]) == [call] * is_left, reason
