"""Which operations a user lets be registered."""

import pytest

from karta_interpreter.base.errors import SettingsError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.webhook.registration.choice import Choice
from karta_interpreter.webhook.registration.configuration import Endpoint, webhook_configuration
from tests.support.rows import rows
from tests.webhook.registration.definitions import TOY, define, names, replicas, snapshot_of

DOLL = GVK("toys.example.com", "v1", "Doll")
PARTS = {"worker": replicas(".spec.worker.count // 1")}


@rows(
    ("texts", "toy", "doll"),
    [
        pytest.param([], "Rp Rv Re Ag St He De", "Rp Rv Re Ag St He De", id="all"),
        pytest.param(["InterpretStatus,AggregateStatus"], "Ag St", "Ag St", id="what cannot move anything"),
        pytest.param(["AggregateStatus", "InterpretStatus"], "Ag St", "Ag St", id="one by one, as a chart has them"),
        pytest.param(["InterpretHealth", "Toy=InterpretReplica,ReviseReplica"], "Rp Rv He", "He", id="kind by kind"),
        pytest.param(["toys.example.com/v1/Doll=Retain"], "", "Re", id="one kind alone"),
    ],
)
def test_only_chosen_operations_are_registered(texts: list[str], toy: str, doll: str) -> None:
    snapshot = snapshot_of(define(TOY, PARTS), define(DOLL, PARTS))

    made = webhook_configuration(snapshot, Endpoint.of_url("https://a.example"), choice=Choice.of(texts))

    rules = [rule for webhook in made["webhooks"] for rule in webhook["rules"]]
    registered = {rule["kinds"][0]: names(rule["operations"]) for rule in rules}
    assert registered == {kind: {*chosen.split()} for kind, chosen in (("Toy", toy), ("Doll", doll)) if chosen}


@rows(
    ("texts", "message"),
    [
        pytest.param(
            ["InterpretReplica"], "InterpretReplica does not go without ReviseReplica", id="counted, not divided"
        ),
        pytest.param(
            ["ReviseReplica"], "ReviseReplica does not go without InterpretReplica", id="divided, not counted"
        ),
        pytest.param(["InterpretStatus"], "InterpretStatus does not go without AggregateStatus", id="fields that stay"),
        pytest.param(["JobSet=InterpretReplica"], "does not go without", id="of one kind"),
        pytest.param(["InterpretHelth"], "did you mean InterpretHealth", id="misspelt"),
        pytest.param([""], "there is no operation", id="nothing"),
    ],
)
def test_half_of_a_pair_and_unknown_word_are_errors(texts: list[str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        Choice.of(texts)
