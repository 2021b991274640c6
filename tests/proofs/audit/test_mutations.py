import json
import random
from itertools import islice

from tests.proofs.audit.mutations import MUTATIONS, mutants
from tests.support.rows import rows
from tests.webhook.process.client import question
from tests.webhook.process.conversations import Spoken

BODY = json.dumps(json.loads(question()), separators=(",", ":")).encode()
CASES = [Spoken("a", BODY), Spoken("b", BODY.replace(b"InterpretReplica", b"InterpretHealth"))]


def first(seed: int, count: int = 200) -> list[bytes]:
    return list(islice(mutants(seed, CASES), count))


def test_seed_decides_bodies() -> None:
    assert first(1) == first(1)
    assert first(1) != first(2)


@rows("name", MUTATIONS)
def test_mutation_changes_most_bodies(name: str) -> None:
    chance = random.Random(3)  # noqa: S311 - the same every time
    made = [MUTATIONS[name](chance, BODY) for _ in range(20)]
    assert sum(body != BODY for body in made) >= 15


@rows("name", MUTATIONS)
def test_mutation_takes_any_body(name: str) -> None:
    chance = random.Random(3)  # noqa: S311 - the same every time
    for _ in range(20):
        assert isinstance(MUTATIONS[name](chance, b'{"request":{"uid":1}}'), bytes)


def test_repeated_key_is_there_twice() -> None:
    found = MUTATIONS["a key twice"](random.Random(5), b'{"uid":"x"}')  # noqa: S311 - the same every time
    assert found.count(b'"uid":') == 2
    pairs = json.loads(found, object_pairs_hook=list)
    assert [key for key, _ in pairs] == ["uid", "uid"]
