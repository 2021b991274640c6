import subprocess
import sys

import pytest

import karta_interpreter

HEAVY = ("aiohttp", "click", "jq", "kubernetes_asyncio", "lupa")
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


def loaded_after(statement: str) -> set[str]:
    program = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    return set(
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    )


def test_importing_the_package_loads_nothing_of_it() -> None:
    loaded = loaded_after("import karta_interpreter")
    assert {name for name in loaded if name.startswith("karta_interpreter")} == {"karta_interpreter"}
    assert not loaded & {"pydantic", "yaml", *HEAVY}


@pytest.mark.parametrize(
    ("statement", "unneeded"),
    [
        pytest.param("from karta_interpreter import *", {*OURS} - {OPERATIONS}, id="every name, explanations too"),
        pytest.param(
            "from karta_interpreter import Karta, Workload\n"
            "job = {'apiVersion': 'batch/v1', 'kind': 'Job', 'metadata': {'name': 'x'}, 'spec': {}}\n"
            "Workload(Karta.for_object(job), job).suspend().status",
            {*OURS},
            id="using it",
        ),
    ],
)
def test_library_imports_nothing_of_the_server(statement: str, unneeded: set[str]) -> None:
    loaded = loaded_after(statement)
    assert not loaded & {*HEAVY, *unneeded}


def test_library_imports_few_packages() -> None:
    """Every other import would be time and memory for each program that uses the library."""
    program = """
import sys, sysconfig
before = {*sys.modules}
from karta_interpreter import Karta, Workload
Karta.for_object({"apiVersion": "batch/v1", "kind": "Job"})
folder = sysconfig.get_path("platlib")
new = [each for name, each in sys.modules.items() if name not in before]
print(*(each.__name__ for each in new if (getattr(each, "__file__", "") or "").startswith(folder)))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert {name.partition(".")[0] for name in ran.stdout.split()} == set().union(*LIBRARIES.values())


def test_first_karta_loads_pydantic_and_yaml() -> None:
    """Half of the library's import time. Many programs never read a Karta."""
    loaded = loaded_after("from karta_interpreter import Karta, Workload, WorkloadTree")

    assert loaded.isdisjoint(
        {"pydantic", "yaml", "karta_interpreter.base.sandbox", "karta_interpreter.definitions.karta.loading"}
    )


def test_public_names_are_importable() -> None:
    for name in karta_interpreter.__all__:
        assert getattr(karta_interpreter, name).__name__ == name
    assert set(karta_interpreter.__all__) <= set(dir(karta_interpreter))
    with pytest.raises(AttributeError, match="no attribute 'Kartta'"):
        _ = karta_interpreter.Kartta  # type: ignore[attr-defined] # that it is missing is the point
