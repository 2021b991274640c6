"""Finds the reports that cannot be read, so that one member does not keep the others from the template.

A member may report any JSON. Merging assumes that it is sound, which costs nothing, and raises InterpretationError
where it is not. Only then this module looks for the members at fault.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from msgspec import structs

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import JSON, Object, get, grouped, type_name
from karta_interpreter.definitions.karta import Definition, PathPattern
from karta_interpreter.engine.operations.aggregate.member_status import (
    MemberPart,
    MemberReport,
    ranked_report,
)
from karta_interpreter.engine.operations.aggregate.merge import Merging, Present, path_text, types_in
from karta_interpreter.engine.operations.aggregate.reduce import reduce_values
from karta_interpreter.engine.operations.call import StatusItem
from karta_interpreter.engine.operations.status_bounds import beyond_bounds

_LIST, _OBJECT, _NUMBER, _STRING = map(type_name, ([], {}, 1, ""))
_NUMERAL: Final = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")


def read_items(
    definition: Definition, template: Object, items: Sequence[StatusItem]
) -> tuple[Sequence[StatusItem], Mapping[str, str]]:
    """Return the items, those without a status whose status cannot be read, and the reason for each of these clusters.

    Raises InterpretationError if no status can be read.
    """
    unread, reports, code = dict[str, str](), list[MemberReport](), HTTPStatus.UNPROCESSABLE_ENTITY.value
    for item in items:
        if problem := beyond_bounds(item.status):
            unread[item.cluster] = f"cannot be read: {problem}"
            continue
        try:
            reports.append(ranked_report(definition, template, item))
        except InterpretationError as error:
            is_no_object = error.code == HTTPStatus.BAD_REQUEST
            unread[item.cluster] = str(error) if is_no_object else f"cannot be read: {error}"
            code = error.code
    reports = [report for report in reports if report.status]
    if len(reports) > 1:
        judging = _Judging(definition, template)
        judging.status(reports)
        unread |= judging.unread
    reasons = {cluster: unread[cluster] for cluster in sorted(unread)}
    if reasons and not any(report.cluster not in reasons for report in reports):
        raise InterpretationError("; ".join(unread_texts(reasons)), code=code)
    silent = [structs.replace(item, status=None, unread="") if item.cluster in reasons else item for item in items]
    return silent, reasons


def unread_texts(unread: Mapping[str, str]) -> list[str]:
    """Return a text for each cluster whose report cannot be read."""
    return [f"the status of cluster {cluster} {reason}" for cluster, reason in unread.items()]


class _Judging(Merging):
    """Merges as AggregateStatus does, and finds the clusters whose value of a field is no value of this field."""

    def __init__(self, definition: Definition, template: Object) -> None:
        super().__init__(definition)
        self.unread = dict[str, str]()
        self._template = template

    def value(self, path: PathPattern, present: Present, candidates: Sequence[MemberPart]) -> JSON:
        # Go writes a missing text as an empty one.
        written = {position: member for position, member in present.items() if member.value != ""}
        misfits = self._unlike(path, written)
        if path in self._rules and not misfits:
            misfits = self._ruled_out(path, written)
        self._take(path, misfits)
        sound = {position: member for position, member in present.items() if member.report.cluster not in misfits}
        with suppress(InterpretationError):  # the sum of sound values is too large, which merging says
            return super().value(path, sound, candidates)
        return None

    def _compare_parts(self, path: PathPattern, parts: Sequence[MemberPart]) -> None:
        # One vote for each cluster, place and type, however many elements it lists.
        votes = {(place, name, member.report.cluster) for member in parts for place, name in types_in(member.value)}
        by_place = grouped((place, (name, cluster)) for place, name, cluster in sorted(votes, key=str))
        for place, named in by_place.items():
            types = grouped(named)
            if len(types) > 1:
                self._take((*path, *place), self._reasons((*path, *place), types))

    def _take(self, path: PathPattern, reasons: Mapping[str, str]) -> None:
        for cluster, reason in reasons.items():
            self.unread.setdefault(cluster, f"cannot be read: {path_text(path)[1:]} {reason}")

    def _ruled_out(self, path: PathPattern, present: Present) -> dict[str, str]:
        """Return the clusters with values that the rule of the definition does not take.

        If it takes none of several, the rule is wrong.
        """
        misfits = dict[str, str]()
        for member in present.values():
            try:
                reduce_values(self._rules[path], [member.value])
            except InterpretationError as error:
                misfits[member.report.cluster] = f"does not fit rule {self._rules[path]}: {error}"
        return misfits if len(misfits) < max(2, len(present)) else {}

    def _unlike(self, path: PathPattern, present: Present) -> dict[str, str]:
        types = grouped((type_name(member.value), member.report.cluster) for member in present.values())
        if len(types) < 2:  # noqa: PLR2004 - two types differ
            return {}
        texts = [member.value for member in present.values() if isinstance(member.value, str)]
        return self._reasons(path, types, has_numeral=any(map(_NUMERAL.fullmatch, texts)))

    def _reasons(
        self, path: PathPattern, types: Mapping[str, Sequence[str]], *, has_numeral: bool = False
    ) -> dict[str, str]:
        """Return the clusters with another type than the usual one of the field."""
        *_, (second, _), (most, usual) = sorted((len(clusters), name) for name, clusters in types.items())
        if most == second:
            usual = "" if path in self._rules else self._likely(path, types, has_numeral=has_numeral)
        reasons = dict[str, str]()
        for name, clusters in types.items():
            if usual not in ("", name):
                reasons |= dict.fromkeys(clusters, f"is {name}, where others have {usual}")
        # If each cluster has several types, so has the field.
        return reasons if reasons.keys() < set().union(*types.values()) else {}

    def _likely(self, path: PathPattern, types: Mapping[str, Sequence[str]], *, has_numeral: bool) -> str:
        """Return the type that a field probably has, if as many clusters have one as another. "" if nothing tells."""
        steps = tuple([step for step in path if step is not None])
        known = type_name(get(self._template, steps)) if len(steps) == len(path) else ""
        if known in types:
            return known
        if path[-1] is None and str(path[-2]).lower().endswith("conditions"):
            return _OBJECT
        if _LIST in types:
            return _LIST
        # Operators write numbers and texts where a broken report has objects, and no text of digits beside a number.
        plain = [name for name in types if name != _OBJECT]
        if len(plain) == 1:
            return plain[0]
        return _NUMBER if has_numeral and {_NUMBER, _STRING}.issuperset(plain) else ""
