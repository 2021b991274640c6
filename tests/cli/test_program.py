import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from textwrap import indent

import pytest
from click.testing import Result

from karta_interpreter import __version__
from karta_interpreter.cli.program import COMMANDS
from tests.support.rows import rows

Run = Callable[..., Result]
Start = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_names_every_command(run: Run, flag: str) -> None:
    result = run(flag)

    assert result.exit_code == 0
    assert all(name in result.stdout for name in COMMANDS)


@rows("name", COMMANDS)
def test_command_help_begins_with_its_line_in_the_list(run: Run, name: str) -> None:
    result = run(name, "--help")

    assert result.exit_code == 0
    assert COMMANDS[name] in result.stdout


@rows(
    ("name", "hint"),
    [
        pytest.param("interpet", "did you mean interpret?", id="a slip"),
        pytest.param("x", f"there are: {', '.join(COMMANDS)}", id="nothing like it"),
    ],
)
def test_unknown_command_is_an_error_with_hint(run: Run, name: str, hint: str) -> None:
    result = run(name)

    assert result.exit_code == 2
    assert result.stderr.endswith(f"Error: No such command '{name}'; {hint}\n")


@rows("group", ["x", "Run.AI", "run.ai/v1alpha1", "-.ai"])
def test_group_of_kartas_is_one_that_a_crd_may_have(run: Run, group: str) -> None:
    result = run("catalogue", "list", env={"KARTA_INTERPRETER_KARTA_API_GROUP": group})

    assert result.exit_code == 2
    assert "'KARTA_INTERPRETER_KARTA_API_GROUP'" in result.stderr
    assert f"{group!r} is not an API group such as run.ai" in result.stderr


def test_help_of_command_is_its_help(run: Run) -> None:
    assert run("help", "validate").stdout == run("validate", "--help").stdout != ""


def test_catalog_is_alias_of_catalogue(run: Run) -> None:
    assert run("catalog", "list").stdout == run("catalogue", "list").stdout != ""


def test_version_is_printed(run: Run) -> None:
    assert run("--version").stdout == f"karta-interpreter, version {__version__}\n"


@rows(
    "arguments",
    [
        pytest.param(["nothing"], id="unknown command"),
        pytest.param(["validate", "--nothing", "x"], id="unknown option"),
        pytest.param(["interpret", "--desired-replica", "-1"], id="negative replicas"),
        pytest.param(["unregister", "--name", ""], id="no name, which would stand for all configurations"),
        pytest.param(["unregister", "--name", "a/../b"], id="a name that leads to another object"),
        pytest.param(["doctor", "--wait", "nan"], id="a time that never ends"),
        pytest.param(
            ["export", "webhook-configuration", "--url", "https://a", "--name", "A b"], id="a name with a blank"
        ),
    ],
)
def test_wrong_usage_is_exit_code_2_and_talk(run: Run, arguments: list[str]) -> None:
    result = run(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: " in result.stderr


def test_console_script_is_this_program() -> None:
    (script,) = entry_points(group="console_scripts", name="karta-interpreter")

    assert script.value == "karta_interpreter.cli:main"


def test_program_runs_as_a_module_under_its_own_name(start: Start) -> None:
    result = start(["--help"])

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("Usage: karta-interpreter [OPTIONS] COMMAND")


def test_help_imports_no_command() -> None:
    heavy = {"aiohttp", "yaml", "pydantic", "orjson", "watchfiles", "jq"}
    code = "import sys, karta_interpreter.cli; print(*sys.modules)"

    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert heavy.isdisjoint(modules.split())


def test_closed_pipe_is_not_an_error(files: Path) -> None:
    del files
    read, write = os.pipe()
    os.close(read)
    command = [
        sys.executable,
        "-m",
        "karta_interpreter",
        "interpret",
        "-f",
        "karta.yaml",
        "--observed-file",
        "job.yaml",
    ]

    process = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)

    assert "Traceback" not in process.stderr
    assert "BrokenPipe" not in process.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        pytest.param(
            "completion bash >/dev/full", "the output cannot be written: No space left on device", id="a full disk"
        ),
        pytest.param("--help >/dev/full", "the output cannot be written: No space left on device", id="help"),
        pytest.param("--version >/dev/full", "the output cannot be written: No space left on device", id="a version"),
        pytest.param(
            "serve --help >/dev/full", "the output cannot be written: No space left on device", id="help of a command"
        ),
        pytest.param("validate - <&-", "standard input is closed", id="a closed input", marks=pytest.mark.slow),
    ],
)
def test_streams_that_fail_are_an_error_of_one_line(line: str, problem: str) -> None:
    command = ["/bin/sh", "-c", f'"{sys.executable}" -m karta_interpreter {line}']

    process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    assert (process.returncode in (1, 2), process.stderr) == (True, f"error: {problem}\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("program", ["main", "kubectl", "kubectl_complete"])
def test_completions_and_plugin_without_room_are_an_error_of_one_line(program: str) -> None:
    code = f"import sys; sys.argv[1:] = ['--help']; from karta_interpreter import cli; cli.{program}()"
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )

    error = "error: the output cannot be written: No space left on device\n"
    assert (process.returncode, process.stderr) == (1, error)


@pytest.mark.parametrize("is_pipe", [False, True], ids=["standard input", "a pipe, as <(…) of a shell is one"])
@pytest.mark.parametrize(
    ("line", "last"),
    [
        ("diff --from {} --to both.yaml --object objects.yaml", "22 questions: 0 answers differ"),
        (
            "create suite -f {} --object objects.yaml --output-dir testdata",
            (
                "14 cases with today's answers in testdata (interpretreplica.yaml, interpretcomponent.yaml, "
                "revisereplica.yaml, aggregatestatus.yaml and 3 more): correct what is wrong, and replace each TODO "
                "by the reason; `karta-interpreter test . -f {}` runs them"
            ),
        ),
        ("test -f {} .", "2 kinds, 2 cases: 2 passed, 0 failed"),
    ],
)
def test_definitions_that_can_be_read_once_are_those_of_every_kind(
    run: Run, files: Path, karta: Callable[..., str], line: str, last: str, *, is_pipe: bool
) -> None:
    both = f"{karta()}---\n{karta('Other')}"
    job = (files / "job.yaml").read_text()
    other = job.replace("kind: Job", "kind: Other")
    case = "operation: InterpretStatus\noutput: {status: {phase: Running}}\nobservedObj:\n"
    (files / "both.yaml").write_text(both)
    (files / "objects.yaml").write_text(f"{job}---\n{other}")
    if line.startswith("test"):
        (files / "testdata").mkdir()
        cases = [f"name: {name}\n{case}{indent(obj, '  ')}" for name, obj in (("a", job), ("b", other))]
        (files / "testdata" / "suite.yaml").write_text("---\n".join(cases))

    read, write = os.pipe()
    os.write(write, both.encode())
    os.close(write)

    path = f"/dev/fd/{read}" if is_pipe else "-"
    result = run(*line.format(path).split(), stdin=both)

    os.close(read)
    assert (result.exit_code, result.stderr) == (0, f"{last.format(path)}\n")


def test_colours_are_for_terminals_only(commands: Path, files: Path, karta: Callable[..., str]) -> None:
    (files / "bad.yaml").write_text(karta(replicas=".a |"))

    command = [str(commands / "karta-interpreter"), "validate", "bad.yaml"]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout

    assert "bad.yaml:16:" in output
    assert "\x1b" not in output


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_terminal_gets_colours_unless_it_refuses(
    commands: Path, files: Path, karta: Callable[..., str], no_color: str, coloured: bool
) -> None:
    (files / "bad.yaml").write_text(karta(replicas=".a |"))
    ours, theirs = os.openpty()
    environment = {**os.environ, "NO_COLOR": no_color}

    command = [str(commands / "karta-interpreter"), "validate", "bad.yaml"]
    subprocess.run(command, stdout=theirs, stderr=subprocess.DEVNULL, env=environment, check=False)
    output = os.read(ours, 65536).decode()
    os.close(ours)
    os.close(theirs)

    assert "bad.yaml:16:" in output
    assert ("\x1b[" in output) is coloured


def test_help_has_exit_codes_of_the_documentation(run: Run) -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d) \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == 4
    shown = " ".join(run("--help").stdout.partition("Exit codes:")[2].lower().split())
    assert shown == " ".join(f"{code} {means.replace('`', '')}." for code, means in rows)


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "no.yaml"),
        ("validate", "-f", "no.yaml"),
        ("validate", "karta.yaml", "--crd", "no.yaml"),
        ("interpret", "no.yaml"),
        ("interpret", "job.yaml", "-f", "no.yaml"),
        ("interpret", "job.yaml", "-f", "karta.yaml", "--reference-file", "no.yaml"),
        ("explain", "no.yaml"),
        ("tree", "no.yaml"),
        ("query", ".a", "no.yaml"),
        ("test", "no.yaml"),
        ("diff", "--from", "no.yaml", "--to", "karta.yaml", "job.yaml"),
        ("create", "suite", "--object", "no.yaml"),
        ("create", "karta", "--crd", "no.yaml"),
        ("catalogue", "list", "-f", "no.yaml"),
        ("export", "argocd-health", "-f", "no.yaml"),
        pytest.param(("console", "--no-open", "-f", "no.yaml"), marks=pytest.mark.catalogue),
        ("serve", "--kartas", "no.yaml"),
    ],
    ids=" ".join,
)
def test_path_that_does_not_exist_is_wrong_usage(run: Run, files: Path, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)

    assert not (files / "no.yaml").exists()
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no.yaml" in result.stderr
