"""What an operator adds to pods requests the same in all definitions whose pods get it."""

import re

from tests.catalogue.entries import entries

_NAMED = re.compile(r'\{\s*name: "(queue-proxy|storage-initializer|modelcar|agent)",\s*')
"""Containers of KServe and Knative, in pods of several kinds."""


_AMOUNTS = re.compile(r'(?:cpu|memory|"ephemeral-storage"): |"[^"]*"')
"""Names of resources, and what is said of each. The conditions under which it is said belong to a kind."""


def _amounts(text: str, begin: int) -> str:
    depth = 0
    for position in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if not depth:
            return " ".join(_AMOUNTS.findall(text, begin, position))
    raise AssertionError(text[begin:])


def test_containers_that_an_operator_adds_are_equal_in_all_definitions() -> None:
    forms: dict[str, dict[str, str]] = {}
    for entry in entries():
        for match in _NAMED.finditer(entry.text):
            forms.setdefault(match[1], {})[_amounts(entry.text, match.start())] = str(entry.folder)
    assert {name: list(texts.values()) for name, texts in forms.items() if len(texts) > 1} == {}
    assert len(forms) == len(("queue-proxy", "storage-initializer", "modelcar", "agent"))
