"""Recordings of a day: packed, read, and compared."""

from collections import Counter
from pathlib import Path

import pytest

from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.webhook.wire.recording import line, read as read_file
from tests.proofs.fleet.recording import Summary, calls, differences, pack, read, written
from tests.support.rows import rows

_REQUEST = b'{"request":{"uid":"%d","operation":"%b","kind":{"group":"apps","version":"v1","kind":"Deployment"}}}'
_ANSWER = b'{"response":{"successful":true}}'


def _recorded(folder: Path, *times: int) -> Path:
    folder.mkdir()
    return written(folder, [line(time, _REQUEST % (time, b"Retain"), _ANSWER) for time in times]).parent


def test_pack_puts_calls_of_servers_in_their_order(tmp_path: Path) -> None:
    packed = tmp_path / "day.jsonl.xz"
    pack([_recorded(tmp_path / "a", 1, 4), _recorded(tmp_path / "b", 2, 3)], packed)
    assert [call.request["uid"] for call in read(packed)] == ["1", "2", "3", "4"]


def test_written_calls_are_a_recording_of_a_server(tmp_path: Path) -> None:
    packed = tmp_path / "day.jsonl.xz"
    pack([_recorded(tmp_path / "a", 1, 2)], packed)
    (tmp_path / "again").mkdir()
    found = [*read_file(written(tmp_path / "again", calls(packed)))]
    assert [getattr(call, "options", None) for call in found] == [DEFAULT_OPTIONS] * 2


@rows(
    ("before", "after", "expected"),
    [
        pytest.param({("a", "Retain"): 1}, {("a", "Retain"): 9}, [], id="more calls of the same sort"),
        pytest.param(
            {("a", "Retain"): 1, ("b", "Retain"): 1},
            {("b", "Retain"): 1},
            ["nobody asked for Retain of a"],
            id="a kind that is missing",
        ),
        pytest.param(
            {("a", "Retain"): 9},
            {("a", "Retain"): 9, ("b", "Retain"): 1},
            ["Retain of b is new"],
            id="a kind that is new",
        ),
        pytest.param(
            {("a", "Retain"): 5, ("a", "InterpretHealth"): 5},
            {("a", "Retain"): 9, ("a", "InterpretHealth"): 1},
            ["InterpretHealth is 10% of the calls instead of 50%", "Retain is 90% of the calls instead of 50%"],
            id="other shares",
        ),
    ],
)
def test_differences_of_days(
    before: dict[tuple[str, str], int], after: dict[tuple[str, str], int], expected: list[str]
) -> None:
    assert [*differences(Summary(Counter(before)), Summary(Counter(after)))] == expected
