"""What stands for the control plane of a server that belongs to none."""

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
        """Nobody registers."""

    async def watch_authority(self, *, interval: float, changed: Callable[[], None]) -> None:
        """There is none to watch for whoever registers."""

    def is_trusted(self, authority: bytes) -> bool:
        """Whoever does not register leaves it to others that clients know an authority."""
        del authority
        return True
