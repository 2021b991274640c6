import subprocess
import sys

import pytest

import interpreter

HEAVY = ("aiohttp", "click", "jq", "kubernetes_asyncio", "lupa")
OURS = (
    "interpreter.cli",
    "interpreter.server",
    "interpreter.sources",
    "interpreter.operations",
    "interpreter.lua.engine",
)


def loaded_after(statement: str) -> set[str]:
    program = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    return set(
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    )


def test_importing_the_package_loads_nothing_of_it() -> None:
    loaded = loaded_after("import interpreter")
    assert {name for name in loaded if name.startswith("interpreter")} == {"interpreter"}
    assert not loaded & {"pydantic", "yaml", *HEAVY}


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("from interpreter import *", id="every name"),
        pytest.param(
            "from interpreter import Karta, Workload\n"
            "job = {'apiVersion': 'batch/v1', 'kind': 'Job', 'metadata': {'name': 'x'}, 'spec': {}}\n"
            "Workload(Karta.for_object(job), job).suspend().status",
            id="using it",
        ),
    ],
)
def test_the_library_needs_nothing_of_the_server(statement: str) -> None:
    loaded = loaded_after(statement)
    assert not loaded & {*HEAVY, *OURS}


def test_every_name_is_there_and_no_other() -> None:
    for name in interpreter.__all__:
        assert getattr(interpreter, name).__name__ == name
    assert set(interpreter.__all__) <= set(dir(interpreter))
    with pytest.raises(AttributeError, match="no attribute 'Kartta'"):
        _ = interpreter.Kartta  # type: ignore[attr-defined] # that it is missing is the point
