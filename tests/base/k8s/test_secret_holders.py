"""Secrets are found by what objects hold, not by the names of kinds."""

import json
from typing import Any

import pytest

from karta_interpreter.base.k8s.secret_holders import holds_secret, mentions_secrets, without_secrets
from tests.support.secret_holders import HOLDERS, OTHERS, VALUE


@pytest.mark.parametrize("part", HOLDERS.values(), ids=HOLDERS)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")], ids=["as Go writes it", "with spaces"])
def test_content_of_secret_is_found_and_taken_out(part: Any, separators: tuple[str, str]) -> None:
    content = json.dumps({"spec": part}, separators=separators).encode()

    assert mentions_secrets(content)
    assert holds_secret({"spec": part})
    cleaned = without_secrets(content)
    assert VALUE not in json.dumps(cleaned)
    assert not holds_secret({"spec": {**cleaned, "manifest": None}}) or "withheld" in json.dumps(cleaned)


@pytest.mark.parametrize("part", OTHERS.values(), ids=OTHERS)
def test_reference_to_secret_holds_none(part: Any) -> None:
    assert not holds_secret({"spec": part})
    assert without_secrets(json.dumps({"spec": part}).encode()) == {"spec": part}


def test_names_and_keys_of_a_secret_stay() -> None:
    content = json.dumps({"spec": HOLDERS["manifests of a Work"]}).encode()
    (manifest,) = without_secrets(content)["spec"]["workload"]["manifests"]
    assert manifest["metadata"] == {"name": "keys", "namespace": "team"}
    assert manifest["data"] == {"password": "withheld"}
