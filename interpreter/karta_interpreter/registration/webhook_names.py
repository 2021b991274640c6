"""Names for webhooks that Karmada's admission accepts."""

import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

from karta_interpreter.k8s.gvk import GVK

_SUFFIX = "karta-interpreter.io"
_QUALIFIED = re.compile(r"(?!.{254})[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+")


def webhook_names(kinds: Iterable[GVK]) -> dict[GVK, str]:
    """A qualified DNS name for each kind, all different, and the same whichever other kinds there are.

    A kind whose name is no DNS name, or differs from another one's in upper and lower case only, gets a digest.

    >>> webhook_names([GVK("ray.io", "v1", "RayCluster")])[GVK("ray.io", "v1", "RayCluster")]
    'raycluster.v1.ray.io.karta-interpreter.io'
    >>> webhook_names([GVK("", "v1", "Pod")])[GVK("", "v1", "Pod")]
    'pod.v1.core.karta-interpreter.io'
    """
    plain = {gvk: _plain(gvk) for gvk in kinds}
    uses = Counter(plain.values())
    return {
        gvk: name if uses[name] == 1 and _QUALIFIED.fullmatch(name) else _digest(gvk) for gvk, name in plain.items()
    }


def _plain(gvk: GVK) -> str:
    return f"{gvk.kind}.{gvk.version}.{gvk.group or 'core'}.{_SUFFIX}".lower()


def _digest(gvk: GVK) -> str:
    digest = sha256(f"{gvk.group}/{gvk.version}/{gvk.kind}".encode()).hexdigest()
    return f"kind-{digest[:16]}.{_SUFFIX}"
