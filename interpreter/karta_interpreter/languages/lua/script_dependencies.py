"""The dependencies that scripts named: verified, put together and sorted.

Label selectors are judged as API servers do: see ``ValidateLabelSelector`` of apimachinery
(``pkg/apis/meta/v1/validation``, ``pkg/api/validate/content``).
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from karta_interpreter.base.errors import LuaRunError
from karta_interpreter.base.k8s import Object, objects_text
from karta_interpreter.base.k8s.request_path import LONGEST_LABEL, LONGEST_SUBDOMAIN, SUBDOMAIN

_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_NAME})?"

_NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
    f"regex used for validation is '{_VALUE}')"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    f"and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{SUBDOMAIN}')"
)
# The messages quote names from a script, which may have any size.
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


def merge_dependencies(answers: Iterable[Sequence[Object]]) -> list[Object]:
    """Return the dependencies of several scripts in Karmada's order, each once.

    >>> secret, service = {"kind": "Secret", "name": "a"}, {"kind": "Service", "name": "a"}
    >>> merge_dependencies([[service, secret], [service]]) == [secret, service]
    True
    """
    keys: set[tuple[str, ...]] = set()
    merged: list[Object] = []
    for dependency in chain.from_iterable(answers):
        # Go compares selectors by their address: a dependency that has one is never the same as another.
        if "labelSelector" not in dependency:
            if key_of(dependency) in keys:
                continue
            keys.add(key_of(dependency))
        merged.append(dependency)
    # The selector last: Karmada's order leaves it open, and equal requests have to get equal answers.
    return sorted(merged, key=lambda one: (key_of(one), "labelSelector" in one, objects_text(one)))


def key_of(dependency: Object) -> tuple[str, ...]:
    """Return what Karmada compares of a dependency: its API version, kind, namespace and name."""
    return tuple(dependency.get(field, "") for field in _ORDER)


def _problems(dependencies: Sequence[Object]) -> Iterator[str]:
    for index, dependency in enumerate(dependencies):
        path = f"dependencies[{index}]"
        yield from (
            _invalid(f"{path}.{field}", dependency[field], f"missing required {field}")
            for field in ("apiVersion", "kind")
            if not dependency[field]
        )
        if not dependency.get("name") and dependency.get("labelSelector") is None:
            yield _invalid(path, dependency, "dependency can not leave name and labelSelector all empty")
        selector, at = dependency.get("labelSelector") or {}, f"{path}.labelSelector"
        for key, value in selector.get("matchLabels", {}).items():
            yield from (_invalid(f"{at}.matchLabels", key, problem) for problem in _key_problems(key))
            yield from (_invalid(f"{at}.matchLabels", value, problem) for problem in _value_problems(value))
        for number, requirement in enumerate(selector.get("matchExpressions", ())):
            yield from _requirement_problems(requirement, f"{at}.matchExpressions[{number}]")


def _invalid(path: str, value: object, problem: str) -> str:
    """Return a problem with a value, in the words of ``field.Invalid``."""
    shown = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"{path}: Invalid value: {shown}: {problem}"


def _requirement_problems(requirement: Object, path: str) -> Iterator[str]:
    operator, values = requirement["operator"], requirement.get("values", ())
    if operator in ("In", "NotIn"):
        if not values:
            yield f"{path}.values: Required value: must be specified when `operator` is 'In' or 'NotIn'"
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield f"{path}.values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
    else:
        yield _invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from (_invalid(f"{path}.key", requirement["key"], problem) for problem in _key_problems(requirement["key"]))
    for index, value in enumerate(values):
        yield from (_invalid(f"{path}.values[{index}]", value, problem) for problem in _value_problems(value))


def _key_problems(key: str) -> Iterator[str]:
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        hint = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        yield f"a valid label key {_NAME_RULE} {hint}"
        return
    problems = {
        "prefix part must be non-empty": slash and not prefix,
        f"prefix part must be no more than {LONGEST_SUBDOMAIN} bytes": len(prefix.encode()) > LONGEST_SUBDOMAIN,
        f"prefix part {_SUBDOMAIN_RULE}": prefix and not re.fullmatch(SUBDOMAIN, prefix),
        "name part must be non-empty": not name,
        f"name part must be no more than {LONGEST_LABEL} bytes": len(name.encode()) > LONGEST_LABEL,
        f"name part {_NAME_RULE}": not re.fullmatch(_NAME, name),
    }
    yield from (problem for problem, is_so in problems.items() if is_so)


def _value_problems(value: str) -> Iterator[str]:
    if len(value.encode()) > LONGEST_LABEL:
        yield f"must be no more than {LONGEST_LABEL} bytes"
    if not re.fullmatch(_VALUE, value):
        yield _VALUE_RULE
