"""What keeps its data, or its nodes."""

from karta_interpreter.base.k8s.values import GVK
from tests.catalogue.statuses.states import (
    DEGRADED,
    FAILED,
    INITIALIZING,
    RUNNING,
    SUSPENDED,
    UNDEFINED,
    States,
)

_KAFKA_NODE_POOL = {
    "as many nodes as wanted": RUNNING,
    "a warning": RUNNING,
    "fewer nodes than wanted": DEGRADED,
    "the status is older than the spec": RUNNING,
    "no Kafka": UNDEFINED,
}

_KAFKA = {
    "ready": RUNNING,
    "ready, with a warning": RUNNING,
    "being deployed": INITIALIZING,
    "a pod does not become ready": DEGRADED,
    "an invalid spec": FAILED,
    "paused": SUSPENDED,
    "the status is older than the spec": RUNNING,
    "no status yet": UNDEFINED,
}

STATEFUL: States = {
    GVK("slinky.slurm.net", "v1beta1", "NodeSet"): {
        "all available": RUNNING,
        "a node starts": INITIALIZING,
        "replicas unset": RUNNING,
        "an update in progress": INITIALIZING,
        "an update that waits for jobs": RUNNING,
        "a new node does not start beside one that waits for jobs": INITIALIZING,
        "updated on delete": RUNNING,
        "updated in a reservation": RUNNING,
        "one on each node, all available": RUNNING,
        "one on each node, one is missing": INITIALIZING,
        "scaled to nothing": RUNNING,
        "the status is older than the spec": RUNNING,
        "the controller has not looked": UNDEFINED,
        "no status yet": UNDEFINED,
        "no pod is available, as Slurm Operator 1.0 says it": INITIALIZING,
        "all pods are available, as Slurm Operator 1.0 says it": RUNNING,
    },
    GVK("postgresql.cnpg.io", "v1", "Cluster"): {
        "healthy": RUNNING,
        "a replica is made": RUNNING,
        "an upgrade in progress": RUNNING,
        "waits for a user": RUNNING,
        "the first primary starts": INITIALIZING,
        "a switchover": RUNNING,
        "healthy, and not an instance is ready": INITIALIZING,
        "failing over": RUNNING | DEGRADED,
        "a plug-in that is missing": RUNNING | DEGRADED,
        "unrecoverable": FAILED,
        "an invalid definition": FAILED,
        "hibernated": SUSPENDED,
        "all instances are fenced": SUSPENDED,
        "each instance is fenced by its name": SUSPENDED,
        "one instance is not fenced": INITIALIZING,
        "pods are deleted for hibernation": SUSPENDED,
        "pods are going for hibernation": SUSPENDED,
        "no status yet": UNDEFINED,
    },
    GVK("kafka.strimzi.io", "v1", "Kafka"): _KAFKA,
    GVK("kafka.strimzi.io", "v1beta2", "Kafka"): _KAFKA,
    GVK("kafka.strimzi.io", "v1", "KafkaNodePool"): _KAFKA_NODE_POOL,
    GVK("kafka.strimzi.io", "v1beta2", "KafkaNodePool"): _KAFKA_NODE_POOL,
    GVK("elasticsearch.k8s.elastic.co", "v1", "Elasticsearch"): {
        "green": RUNNING,
        "yellow": RUNNING,
        "being upgraded": RUNNING,
        "it starts": INITIALIZING,
        "red": FAILED,
        # It goes on serving.
        "a node cannot be taken away": RUNNING | DEGRADED,
        "an invalid spec": RUNNING | DEGRADED,
        "the status is older than the spec": RUNNING,
        "no status yet": UNDEFINED,
    },
}
