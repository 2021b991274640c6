"""The CA file: which certificates are read from it, and when a change is noticed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from karta_interpreter.base.errors import ServeError
from karta_interpreter.webhook.http.certificate import Authority
from karta_interpreter.webhook.process.control_plane import CaFile
from tests.webhook.http.pairs import chain_pem, key_pem, new_key

KEY = new_key()
DAY, NOW = timedelta(days=1), datetime.now(UTC)
LEAF = Authority.create(NOW, DAY).issue(["localhost"], NOW, DAY).chain
OLD, NEW = chain_pem(KEY, ("old",)), chain_pem(KEY, ("new",))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ca.crt"
    path.write_bytes(OLD)
    return path


def test_ca_file_takes_only_certificates(path: Path) -> None:
    path.write_bytes(LEAF + key_pem(KEY) + NEW)
    assert CaFile(path).pem == LEAF + NEW


def test_certificate_of_the_server_itself_is_taken(path: Path) -> None:
    # Go trusts it as an authority for itself (`Certificate.Verify` in crypto/x509), so does Karmada. `doctor` warns.
    path.write_bytes(LEAF)
    assert CaFile(path).pem == LEAF


def test_other_certificates_are_told_of_once(path: Path) -> None:
    file = CaFile(path)
    assert not file.reload_if_changed()
    path.write_bytes(NEW)
    assert file.reload_if_changed()
    assert (file.pem, file.problem) == (NEW, "")
    assert not file.reload_if_changed()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(None, "cannot be used: No such file or directory", id="away"),
        pytest.param(b"", "holds no PEM certificate: it is empty", id="empty"),
        pytest.param(NEW.replace(b"\n", rb"\n"), r"it has \n in the place of line breaks", id="a text of JSON"),
        pytest.param(NEW[:300], "ca.crt holds no PEM certificate: what", id="half of it"),
        pytest.param(key_pem(KEY), "ca.crt holds no PEM certificate: it holds a private key", id="something else"),
    ],
)
def test_without_a_usable_file_the_last_certificates_stay(path: Path, content: bytes | None, problem: str) -> None:
    file = CaFile(path)
    path.unlink() if content is None else path.write_bytes(content)
    assert file.reload_if_changed(), "that is something to tell"
    assert problem in file.problem
    assert not file.reload_if_changed(), "once"
    assert file.pem == OLD
    path.write_bytes(OLD)
    assert file.reload_if_changed(), "and that it is over"
    assert (file.pem, file.problem) == (OLD, "")


def test_missing_ca_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ServeError, match=r"none\.pem cannot be used"):
        CaFile(tmp_path / "none.pem")
