"""In a member in Pull mode karmada-agent calls the server, with the same registration and the same CA."""

from collections.abc import Iterator
from functools import partial

import pytest

from tests.proofs.e2e.conftest import teach
from tests.proofs.e2e.flow import flowing
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kinds import kind_of
from tests.proofs.rig.api import at_rest
from tests.proofs.rig.interpreter import Interpreter
from tests.proofs.rig.layout import PULLED
from tests.proofs.rig.ledger import counted
from tests.proofs.rig.places import put
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import duplicated
from tests.proofs.rig.pull import calls_of_the_agent, pulling

_OF_AGENT = ("Retain", "InterpretStatus", "InterpretHealth")
_OF_MANAGER = ("InterpretReplica", "InterpretDependency", "AggregateStatus")
_RETAIN_REPLICAS = {"resourcetemplate.karmada.io/retain-replicas": "true"}


@pytest.fixture(scope="module")
def pulled(plane: ControlPlane, interpreter: Interpreter) -> Iterator[ControlPlane]:  # noqa: ARG001 - it is registered
    with pulling(plane) as pulled:
        teach(pulled)
        yield pulled


@pytest.mark.parametrize("name", ["RayCluster", "JobSet"])
def test_agent_asks_operations_of_the_member(
    plane: ControlPlane, pulled: ControlPlane, installed: Installed, interpreter: Interpreter, name: str
) -> None:
    kind = kind_of(name)
    placed, scaled = (stage.template for stage in kind.stages[:2])
    template = put(kind.workload(f"pulled-{name.lower()}"), ("metadata", "labels"), _RETAIN_REPLICAS)

    def asked() -> dict[str, int]:
        return counted(interpreter.get("/metrics")[1])

    by_agent = partial(calls_of_the_agent, plane, installed.host)
    by_manager = partial(plane.requests_seen, installed.host)
    before = asked(), by_agent(), by_manager()
    with flowing(pulled, kind, template, duplicated(PULLED)) as flow:
        flow.scheduled({PULLED: kind.stages[0].pods})
        flow.members({PULLED: placed})
        flow.followed()
        flow.report(**{PULLED: "running"})
        flow.health(**{PULLED: "Healthy"})
        flow.aggregated(kind.whole([flow.member(PULLED)]))

        if not kind.stays:
            pulled.members[PULLED].put(template, lambda now: kind.scaled(now, scaled))
            flow.saw(f"the member's autoscaler sets {scaled}")
        flow.edited("once")
        flow.members({PULLED: kind.running(scaled)})

        at_rest("nothing more is asked", asked)
        now = {operation: count - before[0].get(operation, 0) for operation, count in asked().items()}
        flow.saw(f"calls: {now}")
        assert all(now[operation] for operation in (*_OF_AGENT, *_OF_MANAGER))
        assert by_agent() - before[1] == sum(now[operation] for operation in _OF_AGENT)
        assert (by_manager() - before[2])["200"] == sum(now[operation] for operation in now.keys() - {*_OF_AGENT})
