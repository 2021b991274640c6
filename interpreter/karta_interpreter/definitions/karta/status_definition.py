"""The `statusDefinition` of a component, as it is written."""

from karta_interpreter.definitions.karta.expression_text import Expression
from karta_interpreter.definitions.karta.schema_types import Many, Schema, described, optional


class PhaseDefinition(Schema):
    """Where the phase is."""

    path: Expression = described("jq on the workload that yields its phase.")


class ConditionsDefinition(Schema):
    """Where the conditions are and how their fields are called."""

    path: Expression = described("jq on the workload that yields the list of its conditions.")
    type_field_name: str = described("Field of a condition that has its type.", "type")
    status_field_name: str = described(
        "Field of a condition that has its status; empty where conditions have none, and hold while they are there.",
        "status",
    )
    message_field_name: str = described("Field of a condition that has its message.", "message")
    reason_field_name: str = described("Field of a condition that has its reason.", "reason")


class ConditionMatcher(Schema):
    """A condition that must be there."""

    type: str = described("Type of the condition.")
    status: str = described('Its status, such as "True"; without one any will do.', "")
    reason: str = described("Its reason; without one any will do.", "")


class ExpressionMatcher(Schema):
    """An expression whose first result, as text, must be ``expected_result``."""

    expression: Expression = described("jq on the workload.")
    expected_result: str = described("Its first result, as text.")


class StatusMatcher(Schema):
    """One way to have a status; what is given must hold all together."""

    by_phase: str = described("The phase.", "")
    by_conditions: Many[ConditionMatcher] = described("Conditions that must all be there.", ())
    by_expression: ExpressionMatcher | None = optional("An expression on the workload, where no other field fits.")


class StatusMappings(Schema):
    """The ways to have each status; any one of a list is enough."""

    initializing: Many[StatusMatcher] = described("When the workload is being set up.", ())
    running: Many[StatusMatcher] = described("When it does what it is for.", ())
    completed: Many[StatusMatcher] = described("When it has done what it is for.", ())
    failed: Many[StatusMatcher] = described("When it has failed for good.", ())
    degraded: Many[StatusMatcher] = described("When it does less than it should.", ())
    suspended: Many[StatusMatcher] = described("When it is suspended.", ())
    suspending: Many[StatusMatcher] = described("When it is about to be suspended.", ())
    resuming: Many[StatusMatcher] = described("When it is about to run again.", ())


class StatusDefinition(Schema):
    """How the status of the workload is derived."""

    phase_definition: PhaseDefinition | None = optional("Where the phase is, for byPhase.")
    conditions_definition: ConditionsDefinition | None = optional("Where the conditions are, for byConditions.")
    status_mappings: StatusMappings = described("When the workload has which status; several may hold at once.")
