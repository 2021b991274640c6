"""THIRD_PARTY_LICENSES next to the lock, also where other versions are installed and it cannot be generated."""

import re
from pathlib import Path

import pytest

from docs.tools import write_licenses

LOCK = (Path(__file__).parents[2] / "requirements" / "run.txt").read_text()


def test_licenses_name_every_locked_package_and_no_other() -> None:
    head = write_licenses.FILE.read_text().partition("=====")[0]
    rows = re.findall(r"^- (\S+) (\S+): ", head, flags=re.MULTILINE)

    assert rows == re.findall(r"^([\w.-]+)==([^ \\\n;]+)", LOCK, flags=re.MULTILINE)


def test_license_table_has_only_locked_packages() -> None:
    known = {*write_licenses._STATED, *write_licenses._CONTAINS}  # noqa: SLF001 - its tables

    assert {name for name in known if f"\n{name}==" not in LOCK} == set()


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        pytest.param("click==0.1 \\\n", "click", id="another version"),
        pytest.param("no-such-package==1.0 \\\n", "no-such-package", id="no version"),
    ],
)
def test_licenses_stay_where_other_packages_are_installed(
    line: str, missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.txt").write_text(line)
    monkeypatch.setattr(write_licenses, "_LOCK", tmp_path / "run.txt")

    assert write_licenses.pages() == {}
    assert capsys.readouterr().err == f"THIRD_PARTY_LICENSES is left out: not installed as locked: {missing}\n"
