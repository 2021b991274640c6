"""How the status of a workload is derived."""

from karta_interpreter.karta.schema_types import Expression, Many, Schema


class PhaseDefinition(Schema):
    """Where the phase is."""

    path: Expression
    """jq on the workload that yields its phase."""


class ConditionsDefinition(Schema):
    """Where the conditions are and how their fields are called."""

    path: Expression
    """jq on the workload that yields the list of its conditions."""
    type_field_name: str = "type"
    """Field of a condition that has its type."""
    status_field_name: str = "status"
    """Field of a condition that has its status."""
    message_field_name: str = "message"
    """Field of a condition that has its message."""
    reason_field_name: str = "reason"
    """Field of a condition that has its reason."""


class ConditionMatcher(Schema):
    """A condition that must be there."""

    type: str
    """Type of the condition."""
    status: str = ""
    """Its status, such as "True"; without one any will do."""
    reason: str = ""
    """Its reason; without one any will do."""


class ExpressionMatcher(Schema):
    """An expression whose first result, as text, must be ``expected_result``."""

    expression: Expression
    """jq on the workload."""
    expected_result: str
    """Its first result, as text."""


class StatusMatcher(Schema):
    """One way to have a status; what is given must hold all together."""

    by_phase: str = ""
    """The phase."""
    by_conditions: Many[ConditionMatcher] = ()
    """Conditions that must all be there."""
    by_expression: ExpressionMatcher | None = None
    """What the workload says otherwise."""


class StatusMappings(Schema):
    """The ways to have each status; any one of a list is enough."""

    initializing: Many[StatusMatcher] = ()
    """When the workload is being set up."""
    running: Many[StatusMatcher] = ()
    """When it does what it is for."""
    completed: Many[StatusMatcher] = ()
    """When it has done what it is for."""
    failed: Many[StatusMatcher] = ()
    """When it has failed for good."""
    degraded: Many[StatusMatcher] = ()
    """When it does less than it should."""
    suspended: Many[StatusMatcher] = ()
    """When it is suspended."""
    suspending: Many[StatusMatcher] = ()
    """When it is about to be suspended."""
    resuming: Many[StatusMatcher] = ()
    """When it is about to run again."""


class StatusDefinition(Schema):
    """How the status of the workload is derived."""

    phase_definition: PhaseDefinition | None = None
    """Where the phase is, for byPhase."""
    conditions_definition: ConditionsDefinition | None = None
    """Where the conditions are, for byConditions."""
    status_mappings: StatusMappings
    """When the workload has which status; several may hold at once."""
