"""Volcano's controllers and webhooks; a thread plays its scheduler's part and lets every PodGroup begin."""

from contextlib import suppress

from tests.proofs.reality import programs
from tests.proofs.reality.controller import Controller, Kind, labelled
from tests.proofs.rig.api import ApiError, Object, until
from tests.proofs.rig.client import Watch
from tests.proofs.rig.cluster import Cluster
from tests.proofs.rig.processes import free_port

_PODGROUPS = "/apis/scheduling.volcano.sh/v1beta1/podgroups"
_JOBS = "/apis/batch.volcano.sh/v1alpha1/jobs"
_PATIENCE = 60.0
_ADMISSION = "/jobs/mutate,/jobs/validate,/cronjobs/validate"


def _start(cluster: Cluster) -> None:
    source, port = programs.VOLCANO.source(), free_port()
    cluster.install_crds((source / "config" / "crd").glob("*/bases/*.yaml"))
    cluster.add_namespace("volcano-system")
    kubeconfig = f"--kubeconfig={cluster.kubeconfig}"
    cluster.run("volcano", kubeconfig, "--leader-elect=false", "--kube-api-qps=200", "--kube-api-burst=400")
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "default"}}
    cluster.member.apply(queue | {"spec": {"weight": 1}})
    until("Volcano has opened the queue", lambda: _state(cluster.member.find(queue)) == "Open", _PATIENCE)
    # It enters its CA into them before it listens, and knows them by their names.
    manifest = source / "installer" / "volcano-development.yaml"
    cluster.install_webhooks("", manifest, port, wanted=lambda hook: hook["name"].endswith("job.volcano.sh"))
    certificates = {"ca-cert-file": "ca.crt", "tls-cert-file": "tls.crt", "tls-private-key-file": "tls.key"}
    cluster.run(
        "volcano-webhook",
        kubeconfig,
        f"--port={port}",
        "--listen-address=127.0.0.1",
        f"--webhook-url=https://127.0.0.1:{port}",
        f"--enabled-admission={_ADMISSION}",
        *(f"--{flag}={cluster.certificates / file}" for flag, file in certificates.items()),
    )
    cluster.wait_for_port("volcano-webhook", port)
    Watch(cluster.member, _PODGROUPS, lambda group, exists: _enqueue(cluster, group, exists)).start()


def _state(queue: Object | None) -> str:
    return str((queue or {}).get("status", {}).get("state"))


def _enqueue(cluster: Cluster, group: Object, exists: bool) -> None:
    """Volcano creates the pods of a Job when its scheduler has room for its PodGroup."""
    if exists and (group.get("status") or {}).get("phase", "Pending") == "Pending":
        with suppress(ApiError):
            cluster.member.merge(group, {"status": {"phase": "Inqueue"}})


def _task_of_flow(pod: Object) -> str:
    """Return the component as a JobFlow has it: ``it-extract`` is the Job of the flow ``extract``."""
    labels = pod["metadata"].get("labels", {})
    return f"{labels['volcano.sh/job-name'].removeprefix('it-')}-{labels['volcano.sh/task-spec']}"


VOLCANO = Controller(
    name="volcano",
    kinds=(
        Kind(
            "batch.volcano.sh/v1alpha1",
            "Job",
            completes=True,
            component=labelled("volcano.sh/task-spec"),
            children=(_PODGROUPS, "/api/v1/persistentvolumeclaims"),
        ),
        Kind("batch.volcano.sh/v1alpha1", "CronJob", completes=True, children=(_JOBS,)),
        Kind("flow.volcano.sh/v1alpha1", "JobFlow", completes=True, component=_task_of_flow, children=(_JOBS,)),
    ),
    start=_start,
    programs=(programs.VOLCANO, programs.VOLCANO_WEBHOOK),
)
