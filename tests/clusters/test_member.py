from karta_interpreter.clusters.member import WorkloadSelection


def test_object_without_namespace_is_selected_in_each() -> None:
    queue = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "metadata": {"name": "team"}}

    assert WorkloadSelection(namespace="ml").takes(queue)
    assert not WorkloadSelection(namespace="ml", name="other").takes(queue)
