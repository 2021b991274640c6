"""Files that are read from a URL."""

import socket
import time
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import pytest
from click.testing import Result

from karta_interpreter.cli import files as subject
from tests.support.serving import serving

Run = Callable[..., Result]


@pytest.fixture
def url(files: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of the current folder."""
    monkeypatch.setenv("no_proxy", "*")
    (files / "bad.yaml").write_text((files / "karta.yaml").read_text().replace(".spec.replicas // 1", ".a |"))
    with serving(SimpleHTTPRequestHandler) as address:
        yield address


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param("interpret -f {}karta.yaml --observed-file {}job.yaml", id="interpret"),
        pytest.param("interpret -f {}karta.yaml --object {}job.yaml --status-file {}statuses.yaml", id="statuses"),
        pytest.param("tree -f {}karta.yaml --object {}job.yaml", id="tree"),
        pytest.param("explain {}job.yaml -f {}karta.yaml --operation InterpretHealth -o json", id="explain"),
        pytest.param("query .spec.replicas --object {}job.yaml", id="query"),
        pytest.param("diff --from {}karta.yaml --to {}karta.yaml --object {}job.yaml", id="diff"),
        pytest.param("validate {}karta.yaml", id="validate"),
    ],
)
def test_url_is_read_as_a_file(run: Run, url: str, arguments: str) -> None:
    here = run(*arguments.replace("{}", "").split())
    there = run(*arguments.replace("{}", f"{url}/").split())

    local = there.stdout.replace(f"{url}/", "").replace(f"{url.removeprefix('http://')}/", "")
    assert (there.exit_code, local) == (here.exit_code, here.stdout)
    assert here.exit_code == 0


def test_finding_names_place_in_url(run: Run, url: str) -> None:
    result = run("validate", f"{url}/bad.yaml")

    assert result.stdout.startswith(f"{url.removeprefix('http://')}/bad.yaml:16:23: error [")


def test_file_at_a_url_has_a_bound_in_bytes(run: Run, url: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "_MOST_BYTES", 2**17)
    (files / "fits.yaml").write_text("# " + "x" * 2**16)
    (files / "large.yaml").write_text("# " + "x" * 2**18)
    assert "bytes" not in run("validate", f"{url}/fits.yaml").stderr
    large = run("validate", f"{url}/large.yaml")
    expected = f"error: {url}/large.yaml: the file has more than 131072 bytes; download it and give its path\n"
    assert (large.exit_code, large.stderr) == (1, expected)


def test_file_at_a_url_has_to_come_in_time(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.0, 31.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(times))
    slow = run("validate", f"{url}/bad.yaml")
    assert (slow.exit_code, "has not come in 30 seconds" in slow.stderr) == (1, True)


def test_unreadable_url_is_an_error(run: Run, url: str) -> None:
    missing = run("query", ".a", "--object", f"{url}/none.yaml")
    assert (missing.exit_code, missing.stderr) == (1, f"error: {url}/none.yaml: HTTP status 404 File not found\n")

    with socket.create_server(("127.0.0.1", 0)) as closed:
        gone = f"http://127.0.0.1:{closed.getsockname()[1]}/a.yaml"
    refused = run("validate", gone)
    assert (refused.exit_code, "Connection refused" in refused.stderr) == (1, True)

    nonsense = run("validate", "http://[/a.yaml")
    assert (nonsense.exit_code, nonsense.stderr) == (1, "error: http://[/a.yaml: Invalid IPv6 URL\n")
