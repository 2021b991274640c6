"""Where the parts of a control plane have their files and their ports."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.proofs.rig.api import Api
from tests.proofs.rig.authority import Authority
from tests.proofs.rig.kubeconfig import write_kubeconfig
from tests.proofs.rig.processes import free_port

MEMBERS = ("member1", "member2")
PULLED = "member3"
"""The third member: in Pull mode, for the tests that start it."""
TOKEN = "member-admin-token"  # noqa: S105 - of members that live for minutes on loopback

_PORTS = (
    *("etcd", "peer", "karmada", *MEMBERS, PULLED, "aggregated", "webhook", "manager", "scheduler", "probe", "agent"),
)


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything that is known before anything runs; ``ports`` are by the name of the part."""

    folder: Path
    binaries: Path
    authority: Authority
    ports: Mapping[str, int]

    @classmethod
    def create(cls, folder: Path, binaries: Path) -> Self:
        """Write the files and choose the ports."""
        (folder / "log").mkdir()
        authority = Authority(folder / "pki")
        authority.client("admin", "system:admin", "system:masters")
        authority.client("front-proxy", "front-proxy-client", "")
        authority.server("server", "localhost", "karmada-aggregated-apiserver.karmada-system.svc")
        authority.signing_key("accounts")
        layout = cls(folder, binaries, authority, {name: free_port() for name in _PORTS})
        write_kubeconfig(layout.kubeconfig, layout.ports["karmada"], authority)
        layout.tokens.write_text(f'{TOKEN},member-admin,member-admin,"system:masters"\n', encoding="utf-8")
        return layout

    @property
    def kubeconfig(self) -> Path:
        """Of an administrator of karmada-apiserver."""
        return self.folder / "karmada.config"

    @property
    def tokens(self) -> Path:
        """Whom the members let in by a token."""
        return self.folder / "tokens.csv"

    @property
    def pki(self) -> Path:
        return self.authority.folder

    def api(self, name: str) -> Api:
        return Api(name, self.ports[name], self.context())

    def context(self) -> ssl.SSLContext:
        """Return how an administrator connects to an API server."""
        context = ssl.create_default_context(cafile=self.authority.file)
        context.load_cert_chain(self.pki / "admin.crt", self.pki / "admin.key")
        return context

    def local(self, name: str) -> str:
        return f"127.0.0.1:{self.ports[name]}"
