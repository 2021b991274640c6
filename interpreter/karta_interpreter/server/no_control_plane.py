"""Stands in for the control plane of a server without one."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from karta_interpreter.k8s.gvk import GVK


class NoControlPlane:
    """The same as `karta_interpreter.server.control_plane.ControlPlane`, for settings that do not ask for one.

    So such a server loads nothing of what watches a cluster and registers there.
    """

    cluster = None
    is_settled = True
    server_name = None
    kinds: Mapping[GVK, str] = MappingProxyType({})

    async def close(self) -> None:
        """Nothing is open."""

    def registrar(self, *_: object) -> None:
        """Return None: this server does not register."""

    async def watch_authority(self, *, interval: float, changed: Callable[[], None]) -> None:
        """Return at once: there is no CA file to watch."""

    def is_trusted(self, authority: bytes) -> bool:
        """Without registration, any CA counts as trusted."""
        del authority
        return True
