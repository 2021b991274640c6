import json

from tests.proofs.conformance.mutation import mutate

JOB = {"kind": "Job", "spec": {"replicas": 3, "template": {"containers": [{"name": "a"}, {"name": "b"}], "on": True}}}


def test_mutation_keeps_the_original() -> None:
    before = json.dumps(JOB)
    for seed in range(200):
        mutate(JOB, seed)
    assert json.dumps(JOB) == before


def test_seed_decides_object() -> None:
    assert [mutate(JOB, seed) for seed in range(50)] == [mutate(JOB, seed) for seed in range(50)]


def test_seeds_give_many_objects() -> None:
    assert len({json.dumps(mutate(JOB, seed)) for seed in range(200)}) > 150


def test_most_of_the_top_stays_readable() -> None:
    assert sum(mutate(JOB, seed).get("kind") == "Job" for seed in range(200)) > 150


def test_scalar_is_not_mutated() -> None:
    assert mutate(3, 0) == 3
