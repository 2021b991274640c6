"""The session that docs/types-api.md shows, against a server as it is started there."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from karta_interpreter import Karta
from karta_interpreter.web.types_api.models import PROBLEMS
from tests.support.waiting import HANG
from tests.web.types_api.types_server import TOKEN, running

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "types-api.md").read_text(encoding="utf-8")


def shown() -> Iterator[tuple[str, str]]:
    for block in re.finditer(r"^```console session\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block[1], flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            while output.startswith("> "):
                more, _, output = output.partition("\n")
                command += f"\n{more[2:]}"
            yield command, output


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is missing: install it")
def test_session_prints_what_the_page_shows(tmp_path: Path) -> None:
    commands = list(shown())
    with running(tmp_path) as server:
        end = "printf '\\n<end>\\n'"
        script = "\n".join(line for command, _ in commands for line in (command, end))
        given = os.environ | {"API": f"{server.url}/api/v1", "TOKEN": TOKEN}
        done = subprocess.run(
            ["bash", "-c", script], cwd=ROOT, env=given, capture_output=True, text=True, timeout=HANG, check=False
        )
    printed = done.stdout.replace("\r", "").split("\n<end>\n")[:-1]
    assert [text.rstrip("\n") for text in printed] == [output.rstrip("\n") for _, output in commands]


def test_question_of_the_page_gets_the_answer_that_it_shows() -> None:
    body, question = (
        json.loads((ROOT / "docs" / "examples" / "types" / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("bakery", "question")
    )
    answers = Karta.load(body["resourceInterfaces"][0]).answers(question["request"]["object"])
    assert f'"replicas":{answers["InterpretReplica"]["replica"]}…' in PAGE


def test_page_names_all_statuses() -> None:
    assert [status for status in PROBLEMS if f"| {status} |" not in PAGE] == []


def test_page_names_all_options() -> None:
    text = (ROOT / "interpreter" / "karta_interpreter" / "cli" / "types_api.py").read_text(encoding="utf-8")
    flags = {f"--{name.replace('_', '-')}" for name in re.findall(r'_setting\("(types_\w+)"', text)}
    flags -= {"--types-categories", "--types-priorities"}
    assert [flag for flag in (*flags, "--types-category", "--types-priority") if flag not in PAGE] == []
