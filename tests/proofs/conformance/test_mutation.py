import json

from tests.proofs.conformance.mutation import mutate

JOB = {"kind": "Job", "spec": {"replicas": 3, "template": {"containers": [{"name": "a"}, {"name": "b"}], "on": True}}}


def test_the_original_stays() -> None:
    before = json.dumps(JOB)
    for seed in range(200):
        mutate(JOB, seed)
    assert json.dumps(JOB) == before


def test_a_seed_gives_one_object() -> None:
    assert [mutate(JOB, seed) for seed in range(50)] == [mutate(JOB, seed) for seed in range(50)]


def test_seeds_give_many_objects() -> None:
    assert len({json.dumps(mutate(JOB, seed)) for seed in range(200)}) > 150


def test_most_of_the_top_stays_readable() -> None:
    assert sum(mutate(JOB, seed).get("kind") == "Job" for seed in range(200)) > 150


def test_what_has_no_parts_stays() -> None:
    assert mutate(3, 0) == 3
