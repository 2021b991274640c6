r"""The documentation is true: what it shows is what the program prints.

A fenced block marked ``console`` holds commands behind ``$ `` and, below each, its output. Each command is run
in an empty folder that has links to the repository's folders. A line ``...`` in the output stands for any lines.
"""

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner

from karta_interpreter.cli.program import program
from karta_interpreter.definitions.karta.annotation_records import NAMES
from tests.support.waiting import HANG

pytestmark = pytest.mark.catalogue

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "RELEASING", "SECURITY")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
TERMINAL = {"COLUMNS": "100", "NO_COLOR": "1"}


@dataclass(frozen=True)
class Shown:
    page: str
    line: int
    command: str
    output: str


def shown_in(page: Path) -> list[Shown]:
    text = page.read_text()
    found = []
    for block in re.finditer(r"^( *)```console\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL):
        line = text[: block.start()].count("\n") + 1
        for part in re.split(r"^\$ ", dedent(block[2]), flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command = f"{command[:-1]}{more.removeprefix('> ')}"
            found.append(Shown(str(page.relative_to(ROOT)), line, command, output))
    return found


SHOWN = [shown for page in PAGES for shown in shown_in(page)]


@pytest.mark.parametrize("shown", [pytest.param(one, id=f"{one.page}:{one.line} {one.command[:60]}") for one in SHOWN])
def test_shown_output_is_what_is_printed(
    shown: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    for folder in ("kartas", "docs", "tests"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    words = shlex.shlex(shown.command, posix=True, punctuation_chars=True)
    plain = shown.command.startswith("karta-interpreter ") and not set("|<>;") & {word[0] for word in words if word}
    if plain:
        printed = in_this_process(shown.command)
    else:
        printed = by_a_shell(shown.command, request.getfixturevalue("commands"))
    pattern = ".*?\n".join(re.escape(part) for part in re.split(r"^\.\.\.\n", shown.output, flags=re.MULTILINE))
    assert re.fullmatch(pattern, printed, re.DOTALL), printed


def in_this_process(command: str) -> str:
    name, *arguments = shlex.split(command)
    assert name == "karta-interpreter"
    return CliRunner().invoke(program, arguments, env=TERMINAL, catch_exceptions=False).output


def by_a_shell(command: str, commands: Path) -> str:
    programs = f"{commands}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "PATH": programs, **TERMINAL},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=HANG,
        check=False,
    ).stdout


def test_page_of_findings_has_shown_rules() -> None:
    shown = {rule for page in PAGES for rule in re.findall(r"\b((?:error|warning)) \[([\w-]+)\]", page.read_text())}
    rows = re.findall(r"^\| `([\w-]+)` \| (\w+) \|", (ROOT / "docs" / "findings.md").read_text(), re.MULTILINE)
    assert len(shown) > 5
    assert shown <= {(severity, rule) for rule, severity in rows}


def test_links_between_pages_lead_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_table_of_annotations_has_each_annotation_once() -> None:
    text = (ROOT / "docs" / "authoring.md").read_text()
    table = text.partition("| for | annotations |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"`([a-z-]+)`", table)) == sorted(NAMES)


def test_recipes_name_places_that_exist() -> None:
    page = (ROOT / "docs" / "developers" / "changing.md").read_text()
    named = {name for name in re.findall(r"`([\w./-]+)`", page) if "/" in name and name == name.rstrip(".")}
    places = {name for name in named if not re.search(r"[A-Z]{4,}", name)}
    assert len(places) > 30
    roots = (ROOT, ROOT / "interpreter" / "karta_interpreter", ROOT / "deploy" / "helm" / "karta-interpreter")
    assert [name for name in sorted(places) if not any((root / name).exists() for root in roots)] == []
