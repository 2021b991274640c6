"""Member clusters that call webhooks themselves: in Pull mode karmada-agent does."""

from collections.abc import Iterator, Sequence

from karta_interpreter.doctor.result import Result, counted, listed, ok, warning
from karta_interpreter.doctor.webhooks import Client
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.values import Object

_CHECK = "clusters"


def judge_clusters(clusters: Sequence[Object], clients: Sequence[Client]) -> Iterator[Result]:
    """Warn about Pull-mode clusters, whose agents cannot be checked."""
    pulling = [
        str(edit.get(cluster, ("metadata", "name")))
        for cluster in clusters
        if edit.get(cluster, ("spec", "syncMode")) == "Pull"
    ]
    if not pulling:
        yield ok(_CHECK, f"{counted(len(clusters), 'member cluster')}, and none in Pull mode")
        return
    found = (
        f"in Pull mode, karmada-agent calls from inside the cluster, for Retain, status and health: {listed(pulling)}"
    )
    advice = "make sure that its pods reach the address; run doctor in a pod there"
    if any(client.service for client in clients):
        advice = "register a URL that its pods can resolve and reach: a Service of the host cluster they cannot"
    yield warning(_CHECK, found, advice)
