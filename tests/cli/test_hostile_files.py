"""Files that are not what a command expects: each is refused by its name, and no command ever shows a traceback."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.support.examples import few
from tests.support.rows import rows

_BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
FILES = {
    "picture": b"\x89PNG\r\n\x1a\n\x00",
    "utf-16": "kind: Karta".encode("utf-16"),
    "latin-1": "# caf\xe9\nkind: Karta".encode("latin-1"),
    "control characters": b"kind: \x07",
    "half a list": b"a: [1, 2",
    "a key twice": b"kind: Karta\nkind: Karta\n",
    "indented by tabs": b"spec:\n\ta: 1\n",
    "aliases without end": _BOMB.encode(),
    "an alias of itself": b"a: &a {b: *a}",
    "an object of Python": b"!!python/object/apply:os.system ['id']",
    "deep": b"[" * 100_000,
    "a template": b"kind: {{ .Values.kind }}\n",
    "not a number": b"n: .nan\n",
}
COMMANDS = [
    "validate {}",
    "interpret --desired-file {}",
    "interpret -f {} --desired-file job.yaml",
    "interpret -f karta.yaml --desired-file job.yaml --reference-file {}",
    "interpret -f karta.yaml --desired-file job.yaml --status-file {} --operation AggregateStatus",
    "tree --object {}",
    "tree --object job.yaml -f karta.yaml --pods {}",
    "create karta --crd {}",
    "test {}",
    "export webhook-configuration --no-catalogue --service a/b --kartas {}",
]


@pytest.mark.sweep
@pytest.mark.parametrize("content", few([pytest.param(content, id=name) for name, content in FILES.items()], "refused"))
@pytest.mark.usefixtures("files")
@rows("command", COMMANDS)
def test_file_that_is_not_a_manifest_is_refused_by_name(
    run: Callable[..., Result], content: bytes, command: str
) -> None:
    Path("hostile.yaml").write_bytes(content)
    result = run(*command.format("hostile.yaml").split())
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code in (1, 2)
    assert "hostile.yaml" in result.output
    assert len(result.output) < 2000


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("validate .", id="a folder of definitions"),
        pytest.param("interpret -f . --desired-file job.yaml", id="definitions of an answer"),
        pytest.param("interpret -f karta.yaml --desired-file .", id="objects"),
        pytest.param("test .", id="suites"),
        pytest.param("validate karta.yaml --crd /dev/zero", id="a device as CRDs"),
        pytest.param("test -f karta.yaml suite/testdata/outside.yaml", id="a suite that names a file elsewhere"),
        pytest.param("test -f karta.yaml suite/testdata/device.yaml", id="a suite that names a device"),
    ],
)
@pytest.mark.usefixtures("files")
def test_link_and_name_lead_to_no_file_elsewhere(run: Callable[..., Result], tmp_path: Path, command: str) -> None:
    """A folder may be the checkout of a pull request."""
    secret = tmp_path / "elsewhere" / "secret.yaml"
    secret.parent.mkdir()
    secret.write_text("apiVersion: example.io/v1\nkind: Job\nmetadata: {name: hidden}\nspec: {replicas: 3}\n")
    testdata = Path("suite", "testdata")
    testdata.mkdir(parents=True)
    ends: dict[str, Path | str] = {
        "proc": "/proc",
        "zero.yaml": "/dev/zero",
        "up": secret.parent,
        "secret.yaml": secret,
    }
    for name, end in ends.items():
        Path(name).symlink_to(end)
    (testdata / "zero.yaml").symlink_to("/dev/zero")
    case = "name: a\noperation: InterpretReplica\ndesiredObj: {}\noutput: {{replica: 4}}\n"
    (testdata / "outside.yaml").write_text(case.format(secret))
    (testdata / "device.yaml").write_text(case.format("/dev/zero"))
    result = run(*command.split())
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "hidden" not in result.output
