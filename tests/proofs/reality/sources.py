"""A git server, a chart repository, an S3 store and an OCI registry, as far as source-controller asks its HTTP proxy.

Each namespace has its own: the first part of a path, or the name of the bucket, is the namespace.
"""

import gzip
import hashlib
import io
import json
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import yaml

from tests.support.serving import answer, start

_FILES = Path(__file__).with_name("sources.yaml")
_BEGUN = 1_700_000_000
_WRITTEN = "2023-11-14T22:13:20Z"
_MODIFIED = "Tue, 14 Nov 2023 22:13:20 GMT"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_SERVICE = "git-upload-pack"
_FLUX, _HELM = "application/vnd.cncf.flux", "application/vnd.cncf.helm"

Files = Mapping[str, str]


def revisions() -> list[Files]:
    """Return the files of each revision."""
    found: list[Files] = []
    for changes in yaml.safe_load(_FILES.read_text(encoding="utf-8")).values():
        files = {**(found[-1] if found else {}), **changes}
        found.append({path: text for path, text in sorted(files.items()) if text is not None})
    return found


@dataclass
class Sources:
    """What the servers of each namespace have, in a folder for the git repositories."""

    folder: Path
    away: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    revisions: list[Files] = field(default_factory=revisions)

    def start(self) -> int:
        """Listen in a thread that ends with the program; return the port."""
        self.folder.mkdir()
        for number in range(len(self.revisions)):
            _commit(self.folder / str(number), self.revisions[: number + 1])
        return start(_Handler, sources=self)

    def told(self, namespace: str, what: str) -> None:
        """Have the servers of a namespace be ``away``, or ``here`` again, or have what they serve be ``changed``."""
        if what == "away":
            self.away.add(namespace)
        if what == "here":
            self.away.discard(namespace)
        if what == "changed":
            self.changed.add(namespace)

    def number(self, namespace: str) -> int:
        return int(namespace in self.changed)

    def files(self, namespace: str) -> Files:
        return self.revisions[self.number(namespace)]

    def charts(self, namespace: str) -> dict[str, bytes]:
        """Return the packaged charts by version: a repository keeps those from before."""
        return {
            yaml.safe_load(files["chart/Chart.yaml"])["version"]: _packed(_chart(files))
            for files in self.revisions[: self.number(namespace) + 1]
        }


def _commit(folder: Path, history: list[Files]) -> None:
    """Make a git repository with these revisions, which is the same in each run."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True)
    commits = "".join(map(_commit_of, range(len(history)), history))
    # Flux looks for this branch where a user names none.
    stream = f"{commits}reset refs/heads/master\nfrom refs/heads/main\n".encode()
    subprocess.run(["git", "-C", str(folder), "fast-import", "--quiet"], input=stream, check=True)


def _commit_of(number: int, files: Files) -> str:
    head = (
        f"commit refs/heads/main\ncommitter a <a@example.com> {_BEGUN + number} +0000\n{_data(str(number))}deleteall\n"
    )
    return head + "".join(f"M 644 inline {path}\n{_data(text)}" for path, text in files.items())


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"


def _chart(files: Files) -> Files:
    return {path.replace("chart/", "shop/", 1): text for path, text in files.items() if path.startswith("chart/")}


def _packed(files: Files) -> bytes:
    """Return a tar of files, compressed, without times."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path, text in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return gzip.compress(packed.getvalue(), mtime=0)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    sources: Sources

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        serve = _SERVERS.get(url.hostname or "")
        parts = [unquote(part) for part in url.path.split("/") if part]
        if serve is None or _namespace(parts) in self.sources.away:
            # As a proxy says that it reaches no server.
            answer(self, b"", status=HTTPStatus.BAD_GATEWAY)
        else:
            serve(
                self, parts, {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
            )

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self.do_GET()

    def give(self, content: bytes | None, kind: str = "application/octet-stream", **headers: str) -> None:
        """Answer with some content, or that there is none; only the headers where these were asked for."""
        self.send_response(HTTPStatus.NOT_FOUND if content is None else HTTPStatus.OK)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(content or b"")), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content or b"")


def _namespace(parts: list[str]) -> str:
    found = parts[1:] if parts[:1] == ["v2"] else parts
    return found[0] if found else ""


def _git(handler: _Handler, parts: list[str], query: Mapping[str, str]) -> None:
    """Serve a repository by git itself, in its protocol without a state."""
    body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
    if parts[-2:] == ["info", "refs"] and query.get("service") == _SERVICE:
        head, flags, kind = f"001e# service={_SERVICE}\n0000".encode(), ["--advertise-refs"], "advertisement"
    else:
        head, flags, kind = b"", [], "result"
    if handler.headers.get("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    repository = handler.sources.folder / str(handler.sources.number(parts[0]))
    command = ["git", "upload-pack", "--stateless-rpc", *flags, str(repository)]
    done = subprocess.run(command, input=body, capture_output=True, check=False)
    handler.give(head + done.stdout, f"application/x-{_SERVICE}-{kind}")


def _helm(handler: _Handler, parts: list[str], _: Mapping[str, str]) -> None:
    """Serve the index of a chart repository, and its charts."""
    charts, name = handler.sources.charts(parts[0]), parts[-1]
    if name != "index.yaml":
        handler.give(charts.get(name.removeprefix("shop-").removesuffix(".tgz")))
        return
    entries = [
        {"apiVersion": "v2", "name": "shop", "version": version, "created": _WRITTEN}
        | {"digest": hashlib.sha256(chart).hexdigest(), "urls": [f"shop-{version}.tgz"]}
        for version, chart in charts.items()
    ]
    index = {"apiVersion": "v1", "entries": {"shop": entries}, "generated": _WRITTEN}
    handler.give(json.dumps(index).encode(), "application/yaml")


def _s3(handler: _Handler, parts: list[str], query: Mapping[str, str]) -> None:
    """List the objects of a bucket, or serve one."""
    files = handler.sources.files(parts[0])
    if len(parts) > 1:
        text = files.get("/".join(parts[1:]))
        tag = {} if text is None else {"ETag": f'"{_tag(text)}"', "Last_Modified": _MODIFIED}
        handler.give(None if text is None else text.encode(), **tag)
    elif "location" in query:
        handler.give(b"<LocationConstraint/>", "application/xml")
    else:
        handler.give("".join(_listed(parts[0], files)).encode(), "application/xml")


def _listed(bucket: str, files: Files) -> Iterator[str]:
    yield f"<ListBucketResult><Name>{bucket}</Name><KeyCount>{len(files)}</KeyCount><IsTruncated>false</IsTruncated>"
    for path, text in files.items():
        yield f"<Contents><Key>{escape(path)}</Key><LastModified>{_WRITTEN}</LastModified>"
        yield f"<ETag>&quot;{_tag(text)}&quot;</ETag><Size>{len(text.encode())}</Size></Contents>"
    yield "</ListBucketResult>"


def _tag(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _oci(handler: _Handler, parts: list[str], _: Mapping[str, str]) -> None:
    """Serve an artifact of the files at NAMESPACE/files, and charts at NAMESPACE/shop."""
    if len(parts) < 2:
        handler.give(b"{}", "application/json")
        return
    what, reference = parts[-2:]
    artifacts, name = _artifacts(handler.sources, parts), "/".join(parts[1:-2])
    if what == "tags":
        handler.give(json.dumps({"name": name, "tags": [*artifacts]}).encode(), "application/json")
        return
    blobs = {_digest(blob): blob for artifact in artifacts.values() for blob in artifact}
    found = artifacts[reference][0] if what == "manifests" and reference in artifacts else blobs.get(reference)
    digest = {} if found is None else {"Docker_Content_Digest": _digest(found)}
    handler.give(found, _MANIFEST if what == "manifests" else "application/octet-stream", **digest)


def _artifacts(sources: Sources, parts: list[str]) -> dict[str, tuple[bytes, bytes, bytes]]:
    """Return manifest, config and layer by tag."""
    namespace, repository = parts[1], parts[2]
    if repository == "files":
        return {
            "main": _artifact(
                b"{}", _packed(sources.files(namespace)), f"{_FLUX}.config.v1+json", f"{_FLUX}.content.v1.tar+gzip"
            )
        }
    about = (
        json.dumps({"name": "shop", "apiVersion": "v2", "version": version}).encode()
        for version in sources.charts(namespace)
    )
    charts = sources.charts(namespace).items()
    kinds = f"{_HELM}.config.v1+json", f"{_HELM}.chart.content.v1.tar+gzip"
    return {version: _artifact(config, chart, *kinds) for config, (version, chart) in zip(about, charts, strict=True)}


def _artifact(config: bytes, layer: bytes, config_kind: str, layer_kind: str) -> tuple[bytes, bytes, bytes]:
    manifest = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": {"mediaType": config_kind, "digest": _digest(config), "size": len(config)},
        "layers": [{"mediaType": layer_kind, "digest": _digest(layer), "size": len(layer)}],
        "annotations": {"org.opencontainers.image.created": _WRITTEN},
    }
    return json.dumps(manifest).encode(), config, layer


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


_SERVERS: Mapping[str, Callable[[_Handler, list[str], Mapping[str, str]], None]] = {
    "git.example": _git,
    "charts.example": _helm,
    "s3.example": _s3,
    "registry.example": _oci,
}
