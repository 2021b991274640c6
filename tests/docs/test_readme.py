"""What the README says of the catalogue and shows of a server: its start, its end, and a question with its answer."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from karta_interpreter.definitions.sources.files import find_in_catalogue, load_catalogue
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.registered.description import describe
from tests.proofs.conformance.bundle import KINDS
from tests.proofs.conformance.readme import RAY_CLUSTER, README, pods, rows
from tests.webhook.process.client import post
from tests.webhook.process.process import running

_ROOT = Path(__file__).parents[2]


async def test_server_answers_as_the_readme_shows() -> None:
    page = (_ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"/interpret .* -d @(\S+)\n(\{.*\})\n", page)
    assert shown
    with running(_ROOT / "kartas" / "apps", plain_http=True) as server:
        client = await server.connect()
        answer = await client.ask(post((_ROOT / shown[1]).read_bytes()))
        await client.close()

    assert answer.body.decode().strip() == shown[2]


@pytest.mark.slow
def test_signal_to_make_serve_ends_the_server(tmp_path: Path) -> None:
    (tmp_path / "index.html").touch()  # no page is built
    settings = ("PORT=0", f"STATIC={tmp_path}", f"BIN={Path(sys.executable).parent}", "--assume-old=.venv/run.stamp")
    command = ["make", "serve", *settings]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as make:
        assert make.stdout
        next(line for line in make.stdout if '"serving"' in line)
        make.terminate()
        assert '"stopping"' in make.stdout.read(), "read ends with the last process that writes there"


def test_readme_counts_kinds_and_operations_of_the_catalogue() -> None:
    entries = load_catalogue().entries
    operations = sum(len(describe(entry)["operations"]) for entry in entries)
    page = README.read_text(encoding="utf-8")
    assert f"scripts for {len(KINDS)} kinds." in page
    assert f"answers {operations} operations of {len(entries)} kinds" in page


def test_catalogue_counts_the_pods_that_the_readme_says() -> None:
    entry = find_in_catalogue(RAY_CLUSTER)
    assert entry
    answers = [interpret(entry.definition, Call(Operation.INTERPRET_COMPONENT, row.cluster)) for row in rows()]
    assert [pods(answer) for answer in answers] == [row.karta for row in rows()]
    assert len(answers) == 3
    assert all(row.karta != row.script for row in rows())


def test_readme_tells_who_decides_what_happens_without_the_server_and_what_is_tested() -> None:
    page = README.read_text(encoding="utf-8")
    tested = re.findall(
        r"^\| (\w+)[^|]*\| [^|]*\| [^|]*\| ([^|]*) \|$", (_ROOT / "docs" / "upgrade.md").read_text(), re.MULTILINE
    )
    (line,) = (each for each in page.splitlines() if each.startswith("- **Tested** with"))
    for name, versions in tested:
        if name != "Helm" and name in line:
            for version in re.findall(r"v?(\d+\.\d+)", versions):
                assert version in line or name == "Python", f"{name} {version}"
    assert "**While it is down** nothing that runs is changed" in page
    assert "what an object says changes answers of its own namespace only" in page
