"""What shells and kubectl get to complete command lines."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result

from karta_interpreter.cli import kubectl, kubectl_complete
from karta_interpreter.cli.program import COMMANDS
from tests.support.rows import rows

Run = Callable[..., Result]
ROOT = Path(__file__).parents[2]

_ROWS = [
    pytest.param(["d"], ["doctor", "diff"], id="a command"),
    pytest.param(["explain", "raycl"], ["RayCluster", "RayClusterFleet"], id="a kind of the catalogue in any case"),
    pytest.param(["catalogue", "show", "Job", "JobS"], ["JobSet"], id="one more kind"),
    pytest.param(
        ["interpret", "--operation", "Re"], ["ReviseReplica", "ReviseComponents", "Retain"], id="an operation"
    ),
    pytest.param(
        ["export", "customization", "--operations", "Retain,interpreth"], ["Retain,InterpretHealth"], id="one of a list"
    ),
    pytest.param(["tree", "--object", "x"], ["x FILE"], id="a file"),
    pytest.param(["explain", "./x"], ["./x FILE"], id="a file where a kind may be, too"),
    pytest.param(["validate", "-o", "sa"], ["sarif"], id="a form"),
]


@pytest.mark.parametrize(("words", "completed"), _ROWS)
def test_bash_completes(run: Run, words: list[str], completed: list[str], tmp_path: Path, commands: Path) -> None:
    script = tmp_path / "completion.bash"
    script.write_text(run("completion", "bash").stdout)
    line = ["karta-interpreter", *words]
    asked = f"""
        compopt() {{ is_file=" FILE"; }}
        source {script}
        COMP_WORDS=({" ".join(line)}) COMP_CWORD={len(words)}
        _karta_interpreter_completion karta-interpreter
        [ "$is_file" ] && COMPREPLY=("{words[-1]}$is_file")
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"

    shell = subprocess.run(
        ["bash", "-c", asked], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    )

    assert (shell.stdout.split("\n")[:-1] or [""], shell.stderr) == (completed or [""], "")


@pytest.mark.parametrize(("words", "completed"), _ROWS)
def test_kubectl_completes_the_plugin(
    words: list[str], completed: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["kubectl_complete-karta", *words])

    kubectl_complete()

    *lines, directive = capsys.readouterr().out.splitlines()
    files = any(each.endswith(" FILE") for each in completed)
    assert [line.partition("\t")[0] for line in lines] == ([] if files else completed)
    assert directive == (":0" if files else ":4")


@rows("shell", ["bash", "zsh", "fish"])
def test_completion_script_asks_this_program(run: Run, shell: str) -> None:
    result = run("completion", shell)

    assert (result.exit_code, result.stderr) == (0, "")
    assert f"_KARTA_INTERPRETER_COMPLETE={shell}_complete" in result.stdout


def test_commands_complete_without_imports() -> None:
    code = (
        "import sys; from karta_interpreter.cli import kubectl, kubectl_complete; kubectl_complete()\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert [line.split("\t")[0] for line in result.stdout.splitlines()[: len(COMMANDS)]] == list(COMMANDS)
    assert {"yaml", "pydantic", "orjson"}.isdisjoint(result.stderr.split())


def test_kubectl_plugin_has_its_name_in_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts["kubectl-karta"] == "karta_interpreter.cli:kubectl"
    assert scripts["kubectl_complete-karta"] == "karta_interpreter.cli:kubectl_complete"
    monkeypatch.setattr(sys, "argv", ["kubectl-karta", "interpret", "--help"])
    monkeypatch.setattr(click.Context, "formatter_class", click.Context.formatter_class)  # which the plugin replaces

    with pytest.raises(SystemExit) as end:
        kubectl()

    help_text = capsys.readouterr().out
    assert end.value.code in (None, 0)
    assert help_text.startswith("Usage: kubectl karta interpret [OPTIONS]")
    assert "  kubectl karta interpret raycluster.yaml\n" in help_text
    assert "karta-interpreter" not in help_text
