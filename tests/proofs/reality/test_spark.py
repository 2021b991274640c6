"""The stand-in for Spark makes pods as spark-submit and drivers of Spark 4.0.0 did with these settings."""

from typing import Any

import pytest

from tests.proofs.reality.resources import pod_requests, quantities
from tests.proofs.reality.spark import driver_pod, executor_pod, executors_at_first, factor_of, program_of, settings_of
from tests.support.rows import rows

_SIDECAR = {"name": "side", "image": "i", "resources": {"requests": {"cpu": "2"}}}
_OWN = {"name": "spark-kubernetes-driver", "resources": {"requests": {"cpu": "9", "ephemeral-storage": "1Gi"}}}
_FIRST = {"name": "main", "resources": {"limits": {"cpu": "3", "memory": "9Gi"}}}
_INIT = {"name": "init", "image": "i", "resources": {"requests": {"cpu": "4"}}}


_TABLE: dict[str, tuple[Any, ...]] = {
    "an overhead of at least 384 MiB": (
        "x.jar",
        {"spark.driver.memory": "512m", "spark.executor.memory": "512m", "spark.executor.instances": "1"},
        ({}, {}),
        {"cpu": 1, "memory": "896Mi"},
        1,
        {"cpu": 1, "memory": "896Mi"},
    ),
    "executors of a driver in Python have its overhead": (
        "x.py",
        {
            "spark.driver.memory": "2g",
            "spark.executor.memory": "2g",
            "spark.executor.instances": "2",
            "spark.executor.pyspark.memory": "512m",
        },
        ({}, {}),
        {"cpu": 1, "memory": "2867Mi"},
        2,
        {"cpu": 1, "memory": "3379Mi"},
    ),
    "a factor for both": (
        "x.py",
        {
            "spark.driver.memory": "2g",
            "spark.executor.memory": "2g",
            "spark.executor.instances": "1",
            "spark.kubernetes.memoryOverheadFactor": "0.3",
        },
        ({}, {}),
        {"cpu": 1, "memory": "2662Mi"},
        1,
        {"cpu": 1, "memory": "2662Mi"},
    ),
    "the factor of a driver is its own": (
        "x.jar",
        {
            "spark.driver.memory": "8g",
            "spark.executor.memory": "8g",
            "spark.executor.instances": "1",
            "spark.driver.memoryOverheadFactor": "0.3",
        },
        ({}, {}),
        {"cpu": 1, "memory": "10649Mi"},
        1,
        {"cpu": 1, "memory": "9011Mi"},
    ),
    "dynamic allocation, and memory off the heap": (
        "x.jar",
        {
            "spark.dynamicAllocation.enabled": "true",
            "spark.dynamicAllocation.minExecutors": "1",
            "spark.dynamicAllocation.initialExecutors": "2",
            "spark.executor.instances": "3",
            "spark.memory.offHeap.enabled": "true",
            "spark.memory.offHeap.size": "1073741824",
            "spark.executor.memory": "8g",
            "spark.executor.minMemoryOverhead": "1g",
            "spark.kubernetes.executor.request.cores": "500m",
            "spark.kubernetes.executor.limit.cores": "2",
        },
        ({}, {}),
        {"cpu": 1, "memory": "1408Mi"},
        3,
        {"cpu": "500m", "memory": "10Gi"},
    ),
    "pod templates": (
        "x.jar",
        {
            "spark.executor.memory": "20g",
            "spark.executor.instances": "1",
            "spark.executor.resource.gpu.amount": "1",
            "spark.executor.resource.gpu.vendor": "nvidia.com",
        },
        (
            {"spec": {"containers": [_SIDECAR, _OWN]}},
            {"spec": {"initContainers": [_INIT], "containers": [_FIRST]}},
        ),
        {"cpu": 3, "memory": "1408Mi", "ephemeral-storage": "1Gi"},
        1,
        {"cpu": 4, "memory": "22Gi", "nvidia.com/gpu": 1},
    ),
}


@rows(
    ("program", "settings", "templates", "driver", "count", "executor"),
    [pytest.param(*row, id=name) for name, row in _TABLE.items()],
)
def test_stand_in_makes_pods_of_spark(
    program: str, settings: dict[str, str], templates: Any, driver: Any, count: int, executor: Any
) -> None:
    first, second = templates
    of_the_jvm = not program.endswith(".py")
    made = driver_pod(settings, first, of_the_jvm=of_the_jvm)
    factor = factor_of(settings, of_the_jvm=of_the_jvm)
    follower = executor_pod(settings, second, factor=factor, python=program.endswith(".py"))
    assert pod_requests(made["spec"]) == quantities(driver)
    assert executors_at_first(settings) == count
    assert pod_requests(follower["spec"]) == quantities(executor)


def test_arguments_end_with_the_program_and_its_own() -> None:
    arguments = ["--master", "k8s://x", "--conf", "a=b=c", "--name", "n", "local:///x.py", "--conf"]
    assert (settings_of(arguments), program_of(arguments)) == ({"a": "b=c"}, "local:///x.py")
