"""Who signed the certificate that is served, where a file says so: ``--ca-file``."""

from pathlib import Path

from karta_interpreter.errors import ServeError
from karta_interpreter.registration.endpoint import certificates


class CaFile:
    """The certificates in a file that somebody else writes; the last good ones stay until there are others.

    Raises ServeError when the file cannot be used at the start.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.pem = _read(path)
        self.problem = ""

    def look(self) -> bool:
        """Read the file again; return whether there is something to tell: other certificates, or another `problem`.

        A file that is away, or holds nothing that can be used, is a problem and changes nothing else: Kubernetes
        and people replace files in more than one step.
        """
        before = self.pem, self.problem
        try:
            self.pem, self.problem = _read(self._path), ""
        except ServeError as error:
            self.problem = str(error)
        return (self.pem, self.problem) != before


def _read(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ServeError(f"the CA file {path} cannot be read: {error.strerror}") from error
    try:
        found = certificates(content)
    except ServeError as error:
        raise ServeError(f"the CA file {path} cannot be used: {error}") from error
    if not found:
        raise ServeError(f"the CA file {path} is empty")
    return found
