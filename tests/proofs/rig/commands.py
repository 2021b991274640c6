"""The command lines of the parts, with the flags of ``flags.yaml``."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from tests.proofs.rig.binaries import metrics_server
from tests.proofs.rig.layout import Layout

ROLLING = ("deployment-controller", "replicaset-controller", "endpointslice-controller")
"""The controllers that run a Deployment behind a Service."""
AUTOSCALING = (*ROLLING, "horizontal-pod-autoscaler-controller")
UNINSTALLING = (*ROLLING, "job-controller", "garbage-collector-controller")
"""Those that also run Jobs, and delete the pods of a Deployment that is gone."""

_METRICS_SERVER = "metrics-server"
_FLAGS: Mapping[str, Mapping[str, object]] = yaml.safe_load(
    Path(__file__).with_name("flags.yaml").read_text(encoding="utf-8")
)


def command(layout: Layout, program: str, **values: object) -> list[str]:
    """Return the command line of a program; ``values`` are those in its flags that the layout does not know."""
    known: dict[str, object] = {
        "folder": layout.folder,
        "pki": layout.pki,
        "authority": layout.authority.file,
        "kubeconfig": layout.kubeconfig,
        "ports": layout.ports,
        "at": {name: layout.local(name) for name in layout.ports},
    }
    binary = metrics_server(layout.binaries) if program == _METRICS_SERVER else layout.binaries / program
    flags = {name: str(text).format(**known | values) for name, text in _FLAGS[program].items()}
    return [str(binary), *_written(flags)]


def api_server(layout: Layout, name: str, **more: str) -> list[str]:
    if name != "karmada":
        more = {"token-auth-file": str(layout.tokens), **more}
    return [*command(layout, "kube-apiserver", name=name, port=layout.ports[name]), *_written(more)]


def kube_controller_manager(layout: Layout, config: Path, controllers: Iterable[str]) -> list[str]:
    return command(layout, "kube-controller-manager", config=config, controllers=",".join(controllers))


def controllers_of_karmada(layout: Layout) -> list[str]:
    """Return the command line of Kubernetes' own controllers for karmada-apiserver: those of Karmada's manifest."""
    manifest = yaml.safe_load((layout.binaries / "deploy" / "kube-controller-manager.yaml").read_text(encoding="utf-8"))
    (container,) = manifest["spec"]["template"]["spec"]["containers"]
    flags = dict(flag.removeprefix("--").split("=", 1) for flag in container["command"] if "=" in flag)
    return [
        *kube_controller_manager(layout, layout.kubeconfig, flags["controllers"].split(",")),
        *_written(
            {
                "root-ca-file": str(layout.authority.file),
                "use-service-account-credentials": flags["use-service-account-credentials"],
            }
        ),
    ]


def _written(flags: Mapping[str, str]) -> Iterable[str]:
    return (f"--{name}={value}" for name, value in flags.items())
