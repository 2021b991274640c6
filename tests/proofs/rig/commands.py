"""The command lines of the parts."""

from collections.abc import Iterable
from pathlib import Path

from tests.proofs.rig.binaries import metrics_server as metrics_server_binary
from tests.proofs.rig.layout import PULLED, Layout

ROLLING = ("deployment-controller", "replicaset-controller", "endpointslice-controller")
"""The controllers that run a Deployment behind a Service."""
AUTOSCALING = (*ROLLING, "horizontal-pod-autoscaler-controller")
UNINSTALLING = (*ROLLING, "job-controller", "garbage-collector-controller")
"""Those that also run Jobs, and delete the pods of a Deployment that is gone."""


def etcd(layout: Layout) -> list[str]:
    """One etcd for all API servers, which does not wait for the disk."""
    client, peer = (f"http://{layout.local(name)}" for name in ("etcd", "peer"))
    flags = {
        "data-dir": layout.folder / "etcd",
        "listen-client-urls": client,
        "advertise-client-urls": client,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": f"default={peer}",
        "log-level": "warn",
        "unsafe-no-fsync": "true",
    }
    return _command(layout, "etcd", flags)


def api_server(layout: Layout, name: str, **more: str) -> list[str]:
    """The API server of Karmada or of a member, which keeps its objects under a prefix of its own."""
    pki = layout.pki
    flags: dict[str, object] = {
        "etcd-servers": f"http://{layout.local('etcd')}",
        "etcd-prefix": f"/registry-{name}",
        "bind-address": "127.0.0.1",
        "advertise-address": "127.0.0.1",
        "secure-port": layout.ports[name],
        "tls-cert-file": pki / "server.crt",
        "tls-private-key-file": pki / "server.key",
        "client-ca-file": layout.authority.file,
        "authorization-mode": "Node,RBAC",
        "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
        "service-account-key-file": pki / "accounts.pub",
        "service-account-signing-key-file": pki / "accounts.key",
        "service-cluster-ip-range": "10.96.0.0/12",
        "disable-admission-plugins": "StorageObjectInUseProtection,ServiceAccount",
        "proxy-client-cert-file": pki / "front-proxy.crt",
        "proxy-client-key-file": pki / "front-proxy.key",
        "requestheader-client-ca-file": layout.authority.file,
        "requestheader-allowed-names": "front-proxy-client",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-username-headers": "X-Remote-User",
        "endpoint-reconciler-type": "none",
        "v": 1,
    }
    if name != "karmada":
        flags["token-auth-file"] = layout.tokens
    return _command(layout, "kube-apiserver", flags | more)


def aggregated_api_server(layout: Layout) -> list[str]:
    """It serves clusters, for which there is no CRD."""
    flags = {
        "kubeconfig": layout.kubeconfig,
        "authentication-kubeconfig": layout.kubeconfig,
        "authorization-kubeconfig": layout.kubeconfig,
        "etcd-servers": f"http://{layout.local('etcd')}",
        "tls-cert-file": layout.pki / "server.crt",
        "tls-private-key-file": layout.pki / "server.key",
        "bind-address": "127.0.0.1",
        "secure-port": layout.ports["aggregated"],
        "audit-log-path": "",
        "v": 1,
    }
    return _command(layout, "karmada-aggregated-apiserver", flags)


def webhook(layout: Layout, gates: str) -> list[str]:
    """Karmada's own admission."""
    flags = {
        "kubeconfig": layout.kubeconfig,
        "feature-gates": gates,
        "bind-address": "127.0.0.1",
        "secure-port": layout.ports["webhook"],
        "cert-dir": layout.pki,
        "tls-cert-file-name": "server.crt",
        "tls-private-key-file-name": "server.key",
        "metrics-bind-address": "0",
        "health-probe-bind-address": "127.0.0.1:0",
    }
    return _command(layout, "karmada-webhook", flags)


def controller_manager(layout: Layout, gates: str) -> list[str]:
    """The one who calls us."""
    flags = {
        "controllers": "*",
        "cluster-status-update-frequency": "2s",
        # What is charged for an update that then meets a conflict stays charged until all is added up anew.
        "federated-resource-quota-sync-period": "1s",
        "metrics-bind-address": layout.local("manager"),
        "health-probe-bind-address": "127.0.0.1:0",
    }
    return _command(layout, "karmada-controller-manager", _alone(layout, gates) | flags)


def scheduler(layout: Layout, gates: str, *, asks_estimators: bool = False) -> list[str]:
    """The scheduler, which estimates by what members say of themselves, and by what their estimators say."""
    flags = {
        "enable-scheduler-estimator": str(asks_estimators).lower(),
        "scheduler-estimator-ca-file": layout.authority.file,
        "scheduler-estimator-cert-file": layout.pki / "admin.crt",
        "scheduler-estimator-key-file": layout.pki / "admin.key",
        "metrics-bind-address": layout.local("scheduler"),
        "health-probe-bind-address": layout.local("probe"),
    }
    return _command(layout, "karmada-scheduler", _alone(layout, gates) | flags)


def estimator(layout: Layout, name: str, config: Path, port: int) -> list[str]:
    """The estimator of a member, which counts what its nodes have room for; ``config`` is the member's kubeconfig."""
    flags = {
        "kubeconfig": config,
        "cluster-name": name,
        "server-port": port,
        "grpc-auth-cert-file": layout.pki / "server.crt",
        "grpc-auth-key-file": layout.pki / "server.key",
        "grpc-client-ca-file": layout.authority.file,
        "metrics-bind-address": "0",
        "health-probe-bind-address": "0",
        "v": 2,
    }
    return _command(layout, "karmada-scheduler-estimator", flags)


def agent(layout: Layout, member: Path) -> list[str]:
    """karmada-agent in the member in Pull mode; ``member`` is a kubeconfig of that cluster."""
    flags = {
        "karmada-kubeconfig": layout.kubeconfig,
        "kubeconfig": member,
        "cluster-name": PULLED,
        "cluster-api-endpoint": f"https://{layout.local(PULLED)}",
        "cluster-status-update-frequency": "2s",
        # There is no controller in the member that would make tokens for the control plane.
        "report-secrets": "None",
        "leader-elect": "false",
        "metrics-bind-address": layout.local("agent"),
        "health-probe-bind-address": "0",
        "v": 4,
    }
    return _command(layout, "karmada-agent", flags)


def kube_controller_manager(layout: Layout, config: Path, controllers: Iterable[str]) -> list[str]:
    """Some of Kubernetes' own controllers."""
    flags = {
        "kubeconfig": config,
        "controllers": ",".join(controllers),
        "kube-api-qps": 500,
        "kube-api-burst": 1000,
        # By default it looks every 15 s.
        "horizontal-pod-autoscaler-sync-period": "3s",
        "leader-elect": "false",
        "secure-port": 0,
        "v": 2,
    }
    return _command(layout, "kube-controller-manager", flags)


def metrics_server(layout: Layout, config: Path, port: int) -> list[str]:
    """It asks kubelets what containers use, and serves that as metrics.k8s.io."""
    flags = {
        "kubeconfig": config,
        "authentication-kubeconfig": config,
        "authorization-kubeconfig": config,
        "bind-address": "127.0.0.1",
        "secure-port": port,
        "tls-cert-file": layout.pki / "metrics-server.crt",
        "tls-private-key-file": layout.pki / "metrics-server.key",
        "kubelet-certificate-authority": layout.authority.file,
        "kubelet-preferred-address-types": "InternalIP",
        "kubelet-use-node-status-port": "true",
        "metric-resolution": "10s",  # the shortest that there is, and longer than the next
        "kubelet-request-timeout": "5s",
    }
    return _command(layout, metrics_server_binary(layout.binaries).name, flags)


def _alone(layout: Layout, gates: str) -> dict[str, object]:
    return {
        "kubeconfig": layout.kubeconfig,
        "feature-gates": gates,
        "leader-elect": "false",
        # By default, Karmada writes no faster than 40 objects a second; then tests would wait for that.
        "kube-api-qps": 400,
        "kube-api-burst": 800,
        "v": 4,
    }


def _command(layout: Layout, program: str, flags: dict[str, object]) -> list[str]:
    return [str(layout.binaries / program), *(f"--{name}={value}" for name, value in flags.items())]
