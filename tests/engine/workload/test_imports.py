import json
import subprocess
import sys

import pytest

import karta_interpreter

HEAVY = ("aiohttp", "asyncio", "click", "jq", "kubernetes_asyncio", "lupa")
OPERATIONS = "karta_interpreter.engine.operations"
OURS = (
    "karta_interpreter.cli",
    "karta_interpreter.webhook.process",
    "karta_interpreter.definitions.sources",
    OPERATIONS,
    "karta_interpreter.languages.lua.machine.runtime",
)


LIBRARIES = {
    "pydantic": {"annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection"},
    "google-re2": {"re2"},
    "msgspec": {"msgspec"},
    "orjson": {"orjson"},
    "pyyaml": {"yaml"},
}
"""The modules of other projects that the library imports, by the requirement that brings them."""


STEPS = {
    "the package": "import karta_interpreter",
    "three names": "from karta_interpreter import Karta, Workload, WorkloadTree",
    "one kind": "job = {'apiVersion': 'batch/v1', 'kind': 'Job', 'metadata': {'name': 'x'}, 'spec': {}}\n"
    "karta = Karta.for_object(job)",
    "an answer": "Workload(karta, job).suspend().status",
    "every name": "from karta_interpreter import *",
}
"""What a program does with the library, in this order."""

PROGRAM = """
import json, sys, sysconfig
before, folder, loaded, space = {*sys.modules}, sysconfig.get_path("platlib"), {}, {}
for name, step in json.loads(sys.argv[1]).items():
    exec(step, space)
    loaded[name] = {each: (getattr(module, "__file__", "") or "").startswith(folder)
        for each, module in sys.modules.items() if each not in before}
print(json.dumps(loaded))
"""


@pytest.fixture(scope="module")
def loaded() -> dict[str, dict[str, bool]]:
    """What one program has imported after each step, and whether it is of another project."""
    command = [sys.executable, "-c", PROGRAM, json.dumps(STEPS)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    modules: dict[str, dict[str, bool]] = json.loads(ran.stdout)
    return modules


def test_importing_the_package_loads_nothing_of_it(loaded: dict[str, dict[str, bool]]) -> None:
    modules = loaded["the package"]
    assert {name for name in modules if name.startswith("karta_interpreter")} == {"karta_interpreter"}
    assert not modules.keys() & {"pydantic", "yaml", *HEAVY}


@pytest.mark.parametrize(
    ("step", "unneeded"),
    [
        pytest.param("an answer", {*OURS}, id="using it"),
        pytest.param("every name", {*OURS} - {OPERATIONS}, id="every name, explanations too"),
    ],
)
def test_library_imports_nothing_of_the_server(
    loaded: dict[str, dict[str, bool]], step: str, unneeded: set[str]
) -> None:
    assert not loaded[step].keys() & {*HEAVY, *unneeded}


def test_library_imports_few_packages(loaded: dict[str, dict[str, bool]]) -> None:
    """Every other import would be time and memory for each program that uses the library."""
    others = {name.partition(".")[0] for name, is_of_others in loaded["one kind"].items() if is_of_others}

    assert others == set().union(*LIBRARIES.values())


def test_first_karta_loads_pydantic_and_yaml(loaded: dict[str, dict[str, bool]]) -> None:
    """Half of the library's import time. Many programs never read a Karta."""
    assert (
        loaded["three names"]
        .keys()
        .isdisjoint(
            {"pydantic", "yaml", "karta_interpreter.base.sandbox", "karta_interpreter.definitions.karta.loading"}
        )
    )


def test_public_names_are_importable() -> None:
    for name in karta_interpreter.__all__:
        assert getattr(karta_interpreter, name).__name__ == name
    assert set(karta_interpreter.__all__) <= set(dir(karta_interpreter))
    with pytest.raises(AttributeError, match="no attribute 'Kartta'"):
        _ = karta_interpreter.Kartta  # type: ignore[attr-defined] # that it is missing is the point
