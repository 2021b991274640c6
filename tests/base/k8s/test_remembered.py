"""Values that are remembered: small ones, told apart as JSON tells them apart."""

import json

from karta_interpreter.base.k8s.values import Object, remembered
from tests.support.rows import rows

BIG = "x" * 1500


@rows(
    ("text", "times"),
    [
        ('{"cpu": "1"}', 1),
        ('{"list": [{"a": 1}, {"a": 1.5}, {"a": null}]}', 1),
        (f'{{"text": ["{BIG}", "{BIG}y"]}}', 2),
        (f'{{"{BIG}": 1, "{BIG}y": 2}}', 2),
    ],
)
def test_small_values_are_computed_once(text: str, times: int) -> None:
    computed: list[Object] = []
    ask = remembered(computed.append)
    ask(json.loads(text))
    ask(json.loads(text))
    assert computed == [json.loads(text)] * times


def test_remembered_does_not_write_out_repeated_parts() -> None:
    value: Object = {"list": [["x"] * 10_000]}
    for _ in range(5):
        value = {"list": [value] * 10_000}
    assert remembered(len)(value) == 1


def test_numbers_and_truths_stay_apart() -> None:
    ask = remembered(lambda value: [type(each) for each in value.values()])
    assert [ask({"a": each}) for each in (1, 1.0, True)] == [[int], [float], [bool]]
