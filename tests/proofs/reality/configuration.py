"""The configuration that managers of kubernetes-sigs and Kubeflow take: controllers with webhooks."""

from typing import Any

from tests.proofs.rig.api import Object
from tests.proofs.rig.processes import free_port


def configuration(api: str, webhook: Object, **further: Any) -> Object:
    """Return one that listens only here, elects nobody and is not held back in its requests."""
    return {
        "apiVersion": api,
        "kind": "Configuration",
        "webhook": {"host": "127.0.0.1", **webhook},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{free_port()}"},
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"qps": 500, "burst": 1000},
        **further,
    }
