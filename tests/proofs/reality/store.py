"""An object store that is up, as Milvus' operator asks it: a server of MinIO, and where a bucket of S3 is."""

from http.server import BaseHTTPRequestHandler

from tests.support.serving import answer, start

_LOCATION = b'<?xml version="1.0"?><LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>'
_SERVERS = b'{"mode": "online", "servers": [{"state": "online"}]}'


def start_store(port: int) -> None:
    """Listen in a thread that ends with the program."""
    start(_Handler, port)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path.startswith("/minio/admin/"):
            answer(self, _SERVERS)
        else:
            answer(self, _LOCATION, "application/xml")
