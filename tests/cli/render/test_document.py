import json

from karta_interpreter.cli.render import to_json


def test_json_is_sorted_and_readable() -> None:
    assert to_json({"b": "é", "a": 1}) == '{\n  "a": 1,\n  "b": "é"\n}\n'
    assert json.loads(to_json(None)) is None
