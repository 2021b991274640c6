"""``diff --from bindings``: the answers that a Karmada holds, whoever gave them, beside those of definitions."""

from functools import partial
from pathlib import Path

import click

from karta_interpreter.base.findings import count, listed
from karta_interpreter.base.k8s import GVK
from karta_interpreter.cli.calls import print_line
from karta_interpreter.cli.changes import Side, changes_text, print_changes
from karta_interpreter.cli.definitions import with_cluster
from karta_interpreter.cli.program import Problem
from karta_interpreter.cli.render import one_line, table, text_of, watched, written
from karta_interpreter.clusters.bindings import Bindings
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.comparison.bindings import COUNTED, Comparison, KindTotals
from karta_interpreter.engine.comparison.effects import WHEN, Capacity
from karta_interpreter.engine.operations import Operation, Options
from karta_interpreter.engine.registered.interpreters import NOBODY
from karta_interpreter.engine.registered.operations import find_served, served_kinds

_HEADER = ("KIND", "APIVERSION", "OBJECTS", "TODAY BY", "PODS", "REQUESTS", "HEALTH", "DEPENDENCIES", "STATUS")


def show_bindings(  # noqa: PLR0913 - one for each option
    side: Side,
    kubeconfig: Path | None,
    context: str | None,
    output: str,
    options: Options,
    *,
    explained: bool,
    full: bool,
    details: bool,
) -> None:
    """Read a Karmada, and print the comparison. Ends the command if something differs or could not be read."""

    def definition_of(gvk: GVK) -> Definition | None:
        interpreter = side.find(gvk)
        return interpreter.entry.definition if interpreter else None

    bindings = Bindings()
    with_cluster(
        kubeconfig,
        context,
        partial(bindings.read, find=definition_of, watched=watched, kinds=side.kinds(), looked_up=options.looked_up),
    )
    comparison = Comparison(
        side.find,
        bindings.interpreters,
        options,
        bindings.references,
        bindings.has_components,
        explained,
        print_line,
        Capacity(bindings.clusters, bindings.quotas),
    )
    served = served_kinds(bindings.crds)
    for gvk in sorted({*bindings.kinds, *bindings.unbound}):
        comparison.begin(gvk, find_served(served, gvk))
    places = [(gvk, uid) for gvk in comparison.kinds for uid in bindings.kinds.get(gvk, ())]
    for gvk, uid in watched(places, "comparing"):
        comparison.compare(bindings.get(gvk, uid))
    for gvk, uids in bindings.unbound.items():
        for uid in uids:
            comparison.compare_unbound(gvk, *bindings.unbound_object(uid))
    comparison.finish()
    warnings = [*bindings.problems]
    if not comparison.is_whole:
        warnings.append(f"only {count(len(comparison.changes), 'row')} are kept to be shown; the summary counts all")
    questions = sum(kind.compared.total() for kind in comparison.kinds.values())
    text = _text(comparison, full=full, details=details)
    if output != "table":
        text = written({**comparison.to_json(), "problems": [*bindings.problems]}, output)
    print_changes(
        text, warnings, count(questions, "answer"), comparison.changes, comparison.different, compared=bool(questions)
    )
    if bindings.problems or comparison.changes:
        raise SystemExit(Problem.exit_code)


def _text(comparison: Comparison, *, full: bool, details: bool) -> str:
    """Return the summary, and with ``details`` all effects and each change."""
    kinds = [kind for kind in comparison.kinds.values() if details or kind.operations or kind.answering]
    shown = kinds if details else kinds[:_FIRST_KINDS]
    text = table([_cells(kind) for kind in shown], header=_HEADER)
    if len(shown) < len(kinds):
        text += f"and {count(len(kinds) - len(shown), 'kind')} more: --details\n"
    for title, named in (
        ("nobody interprets today, --to does", comparison.new),
        ("only scripts or webhooks of users interpret, --to does not", comparison.of_users),
    ):
        if named:
            names = listed(f"{kind.gvk.kind} ({count(kind.objects, 'object')})" for kind in named)
            text += one_line(f"{click.style(title, bold=True)}: {names}") + "\n"
    lines = _lines(comparison, details=details)
    text += text_of(lines)
    if not details:
        return text + ("--details shows each object and answer\n" if comparison.changes else "")
    return f"{text}\n{changes_text(comparison.changes, full=full)}"


_FIRST_KINDS, _FIRST_EFFECTS = 10, 6


def _lines(comparison: Comparison, *, details: bool) -> list[str]:
    """Return what happens to objects, the worst first, and which operations are left out."""
    effects = [f"{gvk.kind}{f' {name}' if name else ''}: {effect.text}" for gvk, name, effect in comparison.effects]
    lines = effects if details else effects[:_FIRST_EFFECTS]
    if len(lines) < len(effects):
        lines.append(f"and {count(len(effects) - len(lines), 'object')} more: --details")
    if effects:
        lines.insert(0, f"what happens to what runs ({WHEN}):")
    reasons = [(kind.gvk.kind, *pair) for kind in comparison.kinds.values() for pair in kind.left_out.items()]
    left_out = [f"{kind}: {operation} is not registered: {why}" for kind, operation, why in reasons]
    return lines + (left_out if details else left_out[:2])


def _cells(kind: KindTotals) -> tuple[str, ...]:
    """Return the row of a kind in the summary."""
    pods, requests, dependencies = "-", "-", "-"
    for operation in COUNTED:
        if kind.compared[operation]:
            number = kind.different[operation]
            pods = _change("", *kind.pods) + (f", {number} differ" if number else "")
            amounts = [(name, both) for name, both in sorted(kind.requests.items()) if both[0] != both[1]]
            requests = ", ".join(_change(f"{name} ", *both) for name, both in amounts) or "same"
            break
    if kind.compared[Operation.INTERPRET_DEPENDENCY]:
        words = zip(kind.dependencies, ("more", "less"), strict=True)
        dependencies = ", ".join(f"{number} {word}" for number, word in words if number) or "same"
    return (
        kind.gvk.kind,
        kind.gvk.api_version,
        str(kind.objects),
        ", ".join(kind.answering) or NOBODY,
        pods,
        requests,
        _differing(kind, Operation.INTERPRET_HEALTH),
        dependencies,
        _differing(kind, Operation.AGGREGATE_STATUS),
    )


def _differing(kind: KindTotals, operation: Operation) -> str:
    if not kind.compared[operation]:
        return "-"
    number = kind.different[operation]
    return f"{number} of {kind.compared[operation]} differ" if number else "same"


def _change(name: str, before: object, after: object) -> str:
    return f"{name}{before}" if before == after else f"{name}{before} → {after}"
