"""InterpretHealth: of workloads that serve, of those that run to completion, and what annotations change."""

from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.definition import ComponentRules, Definition
from karta_interpreter.engine.operations import Call, Operation
from karta_interpreter.engine.operations.interpret_health import interpret_health
from karta_interpreter.engine.registered.operations import operations_for
from tests.engine.operations.conftest import Define
from tests.support.both_ways import ask
from tests.support.rows import rows

_FAILED_ASLEEP = {
    "byExpression": {"expression": '.status.phase | . != null and startswith("Asl")', "expectedResult": "true"}
}
_SERVICE: dict[str, list[dict[str, Any]]] = {
    "running": [{"byPhase": "Up"}, {"byPhase": "Flaky"}],
    "degraded": [{"byPhase": "Flaky"}],
    "suspended": [{"byPhase": "Paused"}, {"byPhase": "Asleep"}],
    "suspending": [{"byPhase": "Pausing"}],
    "resuming": [{"byPhase": "Waking"}],
    "initializing": [{"byPhase": "Starting"}, {"byPhase": "Stuck"}],
    "failed": [{"byPhase": "Broken"}, {"byPhase": "Stuck"}, _FAILED_ASLEEP],
}
_JOB = {**_SERVICE, "completed": [{"byPhase": "Done"}]}


def _obj(phase: str | None, generation: int = 4, observed: Any = None) -> dict[str, Any]:
    obj = {"apiVersion": "example.io/v1", "kind": "Train", "metadata": {"name": "t", "generation": generation}}
    status = {"phase": phase} if observed is None else {"phase": phase, "observedGeneration": observed}
    return obj if phase is None else {**obj, "status": status}


def _is_healthy(definition: Definition, obj: dict[str, Any]) -> bool:
    answer = ask(definition, Call(Operation.INTERPRET_HEALTH, obj))
    healthy = answer["healthy"]
    assert isinstance(healthy, bool)
    return healthy


@rows(
    ("phase", "service", "job"),
    [
        pytest.param("Up", True, True, id="running"),
        pytest.param("Done", None, True, id="completed; a phase that a service does not know"),
        pytest.param("Paused", True, True, id="suspended on purpose"),
        pytest.param("Starting", False, True, id="a job may wait for room, a service serves nobody"),
        pytest.param("Pausing", False, True, id="a job that is to wait"),
        pytest.param("Waking", False, True, id="a job that waits no longer"),
        pytest.param("Flaky", False, False, id="running, but degraded"),
        pytest.param("Broken", False, False, id="failed"),
        pytest.param("Stuck", False, False, id="starting, and failed: the failure prevails"),
        pytest.param("Asleep", True, True, id="suspended, and failed: rest prevails"),
        pytest.param("Strange", None, None, id="a phase that nobody knows"),
        pytest.param(None, False, False, id="no status: no controller works on it, so nothing is lost by a move"),
    ],
)
def test_health(define: Define, phase: str | None, service: bool | None, job: bool | None) -> None:
    for mappings, expected in ((_SERVICE, service), (_JOB, job)):
        definition = define(mappings=mappings)
        if expected is None:
            with pytest.raises(InterpretationError, match="does not know the state"):
                _is_healthy(definition, _obj(phase))
        else:
            assert _is_healthy(definition, _obj(phase)) is expected


@rows(
    ("ready", "conditions", "expected"),
    [
        pytest.param(2, ["Available", "Progressing"], True, id="all are ready"),
        pytest.param(1, [], False, id="one is missing"),
        pytest.param(1, ["Available", "Progressing"], False, id="no condition is a word that the definition lacks"),
    ],
)
def test_definition_without_words_leaves_the_answer_to_its_expressions(
    define: Define, ready: int, conditions: list[str], expected: bool
) -> None:
    """As InterpretHealth of Karmada's example webhook in Go, which compares the counters."""
    counters = {"byExpression": {"expression": ".status.ready == .spec.replicas", "expectedResult": "true"}}
    definition = define(mappings={"running": [counters]})
    status = {"ready": ready, "conditions": [{"type": name, "status": "True"} for name in conditions]}
    assert _is_healthy(definition, {**_obj(None), "spec": {"replicas": 2}, "status": status}) is expected


@rows(
    ("status", "expected"),
    [
        pytest.param({"phase": "Active", "ready": 0}, False, id="a counter says that none is ready"),
        pytest.param({"phase": "Active", "ready": 2}, True, id="all are ready"),
        pytest.param({"phase": "Active"}, None, id="no counter"),
        pytest.param({"phase": "Active", "observedGeneration": 4, "restarts": 1}, None, id="none that a mapping reads"),
        pytest.param({"phase": "Failed", "ready": 2}, False, id="a word that is known"),
    ],
)
def test_unknown_word_leaves_the_answer_to_the_counters(
    define: Define, status: dict[str, Any], expected: bool | None
) -> None:
    counters = {"byExpression": {"expression": "(.status.ready // 0) >= .spec.replicas", "expectedResult": "true"}}
    service = define(mappings={"running": [counters], "failed": [{"byPhase": "Failed"}]})
    job = define(
        mappings={"running": [counters], "failed": [{"byPhase": "Failed"}], "completed": [{"byPhase": "Done"}]}
    )
    obj = {**_obj(None), "spec": {"replicas": 2}, "status": status}
    if expected is None:
        with pytest.raises(InterpretationError, match="does not know the state Active"):
            _is_healthy(service, obj)
    else:
        assert _is_healthy(service, obj) is expected
    if status["phase"] == "Active" and not expected:  # no counter tells whether a job waits or has failed
        with pytest.raises(InterpretationError, match="does not know the state Active"):
            _is_healthy(job, obj)


@pytest.mark.parametrize("phase", ["Up", "Starting", "Flaky", "Strange", None])
def test_object_that_asks_for_rest_is_healthy_until_it_has_ended(define: Define, phase: str | None) -> None:
    suspension = {
        "suspendActions": [{"path": ".spec.suspend", "value": "true"}],
        "resumeActions": [{"path": ".spec.suspend", "value": "false"}],
    }
    definition = define(mappings=_SERVICE, root={"suspendDefinition": suspension})
    obj = _obj(phase, observed=3)
    assert _is_healthy(definition, {**obj, "spec": {"suspend": True}}) is True
    assert _is_healthy(definition, {**_obj("Broken"), "spec": {"suspend": True}}) is False


@rows(
    ("actions", "rest"),
    [
        pytest.param({".spec.suspend": "true"}, "(.spec.suspend | . == true)", id="one place"),
        pytest.param({".spec.job | select(. != null) | .state": '"off"'},
                     '[(.spec.job | select(. != null) | .state | . == "off")] | . != [] and all', id="perhaps none"),
        pytest.param({".spec.a": "1", ".spec.b": "2"}, "[(.spec.a | . == 1), (.spec.b | . == 2)] | . != [] and all",
                     id="two places"),
        pytest.param({".spec.suspend": "null"}, None, id="a field that is taken away asks for nothing"),
    ],
)  # fmt: skip
def test_rest_is_asked_for_by_the_suspend_actions(define: Define, actions: dict[str, str], rest: str | None) -> None:
    suspension = {
        "suspendActions": [{"path": path, "value": value} for path, value in actions.items()],
        "resumeActions": [{"path": ".spec.x", "value": "1"}],
    }
    definition = define(mappings=_SERVICE, root={"suspendDefinition": suspension})
    assert definition.status is not None
    assert (definition.status.rest and definition.status.rest.text) == rest


@rows(
    ("observed", "stale"),
    [
        pytest.param(3, True, id="the last change has not been seen"),
        pytest.param(4, False, id="it has"),
        pytest.param("3", True, id="a generation written as text is one, too"),
        pytest.param("4", False, id="the present one as text"),
        pytest.param("3d9f4c", False, id="a hash tells nothing"),
        pytest.param("9" * 5000, False, id="no generation has so many digits"),
        pytest.param(0, True, id="not even the first generation has been seen"),
        pytest.param(-1, False, id="the default of a CRD: no controller has written anything"),
    ],
)
def test_service_with_stale_status_is_unhealthy(define: Define, observed: int | str, stale: bool) -> None:
    assert _is_healthy(define(mappings=_SERVICE), _obj("Up", observed=observed)) is not stale


@rows(
    ("phase", "expected"),
    [
        pytest.param("Up", True, id="it runs, and waits for its controller to look at the change"),
        pytest.param("Starting", True, id="it waits in any case"),
        pytest.param("Strange", True, id="whatever it was, the controller has yet to look"),
        pytest.param("Broken", False, id="a failure remains one"),
        pytest.param("Flaky", False, id="so does trouble"),
    ],
)
def test_job_with_stale_status_waits(define: Define, phase: str, expected: bool) -> None:
    assert _is_healthy(define(mappings=_JOB), _obj(phase, observed=3)) is expected


@rows(
    ("statuses", "phase", "expected"),
    [
        pytest.param("Running, Initializing", "Starting", True, id="a service that may wait"),
        pytest.param("Running, Initializing", "Paused", False, id="what is not named does not count"),
        pytest.param("Running, Undefined", "Strange", True, id="what no mapping knows"),
        pytest.param("Running, Undefined", None, True, id="no status yet"),
        pytest.param("Running", "Flaky", False, id="trouble prevails"),
        pytest.param("Running, Degraded", "Flaky", True, id="unless it is named"),
        pytest.param("Completed, Failed", "Broken", True, id="a failed job that is to stay where it is"),
        pytest.param("Running, Failed", "Flaky", False, id="one kind of trouble is not the other"),
    ],
)
def test_healthy_statuses_annotation_names_healthy_statuses(
    define: Define, statuses: str, phase: str | None, expected: bool
) -> None:
    definition = define(mappings=_JOB, **{"healthy-statuses": statuses})
    assert _is_healthy(definition, _obj(phase)) is expected


@pytest.mark.parametrize(("statuses", "expected"), [("Running", False), ("Running, Initializing", True)])
def test_stale_status_counts_as_initializing(define: Define, statuses: str, expected: bool) -> None:
    definition = define(mappings=_SERVICE, **{"healthy-statuses": statuses})
    assert _is_healthy(definition, _obj("Up", observed=3)) is expected


def test_health_annotation_decides(define: Define) -> None:
    definition = define(mappings=_JOB, health='.status.phase == "Starting"')
    assert _is_healthy(definition, _obj("Starting")) is True
    assert _is_healthy(definition, _obj("Up")) is False
    assert _is_healthy(definition, _obj("Starting", observed=3)) is False, (
        "it was asked for, and may not be so any more"
    )


def test_failing_expression_names_definition_once(define: Define) -> None:
    definition = define(health=".status.phase + 1 == 2")
    with pytest.raises(
        InterpretationError, match=r"^definition train, annotation health `[^`]*`: a string and a number"
    ):
        _is_healthy(definition, _obj("Up"))


def test_health_must_be_true_or_false(define: Define) -> None:
    with pytest.raises(InterpretationError, match=r"annotation health .*: gives a string where a boolean belongs"):
        _is_healthy(define(health=".status.phase"), _obj("Up"))


@rows(
    ("phase", "expected"),
    [
        pytest.param("Up", True, id="the definition compares the generation, and an old one is no fault"),
        pytest.param("Down", False, id="unless it says so"),
    ],
)
def test_definition_that_compares_generation_judges_stale_status(define: Define, phase: str, expected: bool) -> None:
    is_behind = '.status.phase == "Down" and .status.observedGeneration < .metadata.generation'
    stale = {"byExpression": {"expression": is_behind, "expectedResult": "true"}}
    definition = define(mappings={**_SERVICE, "initializing": [stale]})
    assert _is_healthy(definition, _obj(phase, observed=3)) is expected


@rows(
    ("phase", "expected"),
    [
        pytest.param("Up", True, id="it serves, whatever its operator has not seen"),
        pytest.param("Starting", False, id="it has not started"),
        pytest.param("Flaky", False, id="trouble is trouble"),
    ],
)
def test_late_status_of_older_generation_counts_like_any_other(define: Define, phase: str, expected: bool) -> None:
    definition = define(mappings=_SERVICE, **{"observed-generation": "late"})
    assert _is_healthy(definition, _obj(phase, observed=3)) is expected


def test_definition_without_status_has_no_health() -> None:
    definition = Definition("train", GVK("example.io", "v1", "Train"), (ComponentRules("train", "train"),))
    with pytest.raises(InterpretationError, match="definition train has no status definition, so there is no health"):
        interpret_health(definition, _obj("Up"))
    assert Operation.INTERPRET_HEALTH not in operations_for(definition)
