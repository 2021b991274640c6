"""The names that objects of a kind have by a reference's ``namesExpression``, with ranks by which one is chosen.

>>> names = ObjectNames(Query.compile("{name: .metadata.name}, (.spec.serves[] | {name: ., rank: 1})"))
>>> hall = {"metadata": {"name": "great"}, "spec": {"serves": ["opera", "ballet"]}}
>>> _ = names.add(hall)
>>> names.first("town", "ballet, opera")
'great'
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from karta_interpreter.base.k8s import JSON, Object, edit, namespace as namespace_of
from karta_interpreter.languages.jq import Query
from karta_interpreter.languages.jq.compiled.values import order_key


class ObjectNames:
    """Finds an object by one of these names, or by several, without a look at the objects that lack them."""

    def __init__(self, expression: Query) -> None:
        self._expression = expression
        # By namespace (empty without one) and name: what sorts as the ranks of the objects that have the name.
        self._ranks: Mapping[tuple[str, str], dict[str, tuple[Any, ...]]] = defaultdict(dict)

    def add(self, obj: Object) -> list[JSON]:
        """Add an object, and return what the expression gives for it. Adding it again changes nothing."""
        offers = self._expression.evaluate(obj)
        own = str(edit.get(obj, ("metadata", "name")))
        for offer in offers:
            if isinstance(offer, dict):
                self._ranks[namespace_of(obj), str(offer.get("name"))][own] = order_key(offer.get("rank"))
        return offers

    def first(self, namespace: str, name: str) -> str | None:
        """Return the own name of the object with a name, or with several that have commas between them.

        Of those in the namespace, or in none, it is the one with the greatest ranks, and the first by its own name.
        """
        ranked = list(self._ranked(namespace, name.split(", ")))
        greatest = max((ranks for ranks, _ in ranked), default=None)
        return min((own for ranks, own in ranked if ranks == greatest), default=None)

    def _ranked(self, namespace: str, names: list[str]) -> Iterator[tuple[list[Any], str]]:
        """Yield the ranks of the objects that have all the names, with their own names."""
        for place in {namespace, ""}:
            rows = [self._ranks.get((place, name), {}) for name in names]
            yield from (
                ([row[own] for row in rows], own) for own in min(rows, key=len) if all(own in row for row in rows)
            )
