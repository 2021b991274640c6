"""The dependencies that scripts named: verified, put together and sorted."""

from collections.abc import Iterable, Iterator, Sequence

from karta_interpreter.errors import LuaRunError
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.lua.selectors import invalid, selector_problems

_LONGEST_MESSAGE = 8192
_ORDER = ("apiVersion", "kind", "namespace", "name")


def verify(dependencies: Sequence[Object]) -> None:
    """Raise LuaRunError for dependencies that Karmada refuses, in its words.

    Follows ``VerifyDependencies`` of Karmada (``pkg/util/interpreter/validation/validation.go``).
    """
    problems = list(dict.fromkeys(_problems(dependencies)))
    if problems:
        message = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        raise LuaRunError(message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]} ...")


def united(answers: Iterable[Sequence[Object]]) -> list[JSON]:
    """The dependencies of several scripts in Karmada's order, each once.

    >>> secret, service = {"kind": "Secret", "name": "a"}, {"kind": "Service", "name": "a"}
    >>> united([[service, secret], [service]]) == [secret, service]
    True
    """
    seen: set[tuple[str, ...]] = set()
    found: list[Object] = []
    for dependency in (one for answer in answers for one in answer):
        # Go tells selectors apart by their address: a dependency that has one is never the same as another.
        if "labelSelector" not in dependency:
            if _key(dependency) in seen:
                continue
            seen.add(_key(dependency))
        found.append(dependency)
    return sorted(found, key=lambda one: (_key(one), "labelSelector" in one, str(one.get("labelSelector"))))


def _key(dependency: Object) -> tuple[str, ...]:
    return tuple(dependency.get(field, "") for field in _ORDER)


def _problems(dependencies: Sequence[Object]) -> Iterator[str]:
    for index, dependency in enumerate(dependencies):
        place = f"dependencies[{index}]"
        for field in ("apiVersion", "kind"):
            if not dependency[field]:
                yield invalid(f"{place}.{field}", dependency[field], f"missing required {field}")
        selector = dependency.get("labelSelector")
        if not dependency.get("name") and selector is None:
            yield invalid(place, dependency, "dependency can not leave name and labelSelector all empty")
        yield from selector_problems(selector or {}, f"{place}.labelSelector")
