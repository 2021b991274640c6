"""Requests of pods, by the rules of k8s.io/component-helpers/resource (PodRequests)."""

from fractions import Fraction

import pytest

from tests.proofs.reality.resources import pod_requests, quantity, shown
from tests.proofs.rig.api import Object
from tests.support.rows import rows


@rows(
    ("text", "amount"),
    [
        ("100m", Fraction(1, 10)),
        ("1.5Gi", 3 * 2**29),
        (2, 2),
        ("1e9", 10**9),
        ("1E", 10**18),  # the suffix, not an exponent without a number
        ("2E3", 2000),
        ("5n", Fraction(5, 10**9)),
        ("12Ki", 12288),
    ],
)
def test_quantity_is_read_as_by_kubernetes(text: object, amount: Fraction) -> None:
    assert quantity(text) == amount


def test_text_that_is_not_an_amount_is_an_error() -> None:
    with pytest.raises(ValueError, match="'two' is not a quantity"):
        quantity("two")


def _container(requests: Object | None = None, limits: Object | None = None, **more: str) -> Object:
    return {"name": "c", "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


@rows(
    ("spec", "requests"),
    [
        pytest.param({"containers": [{"name": "c"}]}, "nothing", id="no resources"),
        pytest.param(
            {"containers": [_container({"cpu": 1}, {"cpu": 2, "memory": "1Ki"})]},
            "cpu 1, memory 1024",
            id="a limit is the request where there is none",
        ),
        pytest.param(
            {
                "containers": [_container({"cpu": 1})],
                "initContainers": [_container({"cpu": 3}), _container({"cpu": 2})],
            },
            "cpu 3",
            id="init containers run one after the other",
        ),
        pytest.param(
            {
                "containers": [_container({"cpu": "400m"})],
                "initContainers": [_container({"cpu": "200m"}, restartPolicy="Always"), _container({"cpu": "500m"})],
            },
            "cpu 7/10",
            id="a sidecar runs next to a later init container",
        ),
        pytest.param(
            {
                "containers": [_container({"cpu": "400m"})],
                "initContainers": [_container({"cpu": "500m"}), _container({"cpu": "200m"}, restartPolicy="Always")],
            },
            "cpu 3/5",
            id="and not next to an earlier one",
        ),
        pytest.param(
            {"containers": [_container({"cpu": 1, "memory": "1Ki"})], "resources": {"requests": {"cpu": 4}}},
            "cpu 4, memory 1024",
            id="requests of the pod take precedence, resource by resource",
        ),
        pytest.param(
            {"containers": [_container({"cpu": 1})], "resources": {"limits": {"cpu": 4}}, "overhead": {"cpu": "250m"}},
            "cpu 17/4",
            id="overhead comes on top",
        ),
    ],
)
def test_pod_requests_are_those_of_the_scheduler(spec: Object, requests: str) -> None:
    assert shown(pod_requests(spec)) == requests
