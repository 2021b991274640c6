"""What a recording holds, and what of a damaged one can be read."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from karta_interpreter.base.errors import RecordingError
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Options
from karta_interpreter.webhook.wire.recording import LONGEST, VERSION, RecordedCall, files_in, head, line, read


def _request(obj: Any) -> bytes:
    return orjson.dumps({"request": {"uid": "1", "object": obj}})


def _answer(**fields: Any) -> bytes:
    return orjson.dumps({"response": {"uid": "1", "successful": True, **fields}})


def _file(folder: Path, content: bytes) -> Path:
    path = folder / "calls-20260101T000000Z-00000000.jsonl.gz"
    path.write_bytes(content)
    return path


def test_calls_are_read_as_they_came(tmp_path: Path) -> None:
    options = Options(resource_quota_estimate=True)
    text = head(options) + line(1.5, b'{"request":\n{"uid":"1"}}\n', _answer(healthy=True))

    (call,) = read(_file(tmp_path, gzip.compress(text)))

    assert isinstance(call, RecordedCall)
    assert call.request == {"request": {"uid": "1"}}
    assert call.answer["healthy"] is True
    assert call.options == options


def test_recordings_in_a_folder_come_by_number_and_other_files_not_at_all(tmp_path: Path) -> None:
    names = ["calls-20260102T000000Z-00000000.jsonl.gz", "calls-20260101T000000Z-00000001.jsonl.gz"]
    for name in (*names, "calls.jsonl.gz"):
        (tmp_path / name).touch()

    assert [path.name for path in files_in(tmp_path)] == names


def test_truncated_recording_is_read_to_its_end(tmp_path: Path) -> None:
    lines = b"".join(line(n, _request({"n": n * 7919}), _answer()) for n in range(20_000))
    packed = gzip.compress(head(DEFAULT_OPTIONS) + lines)

    *calls, last = read(_file(tmp_path, packed[: len(packed) // 2]))

    assert 5_000 < len(calls) < 20_000
    assert all(isinstance(call, RecordedCall) for call in calls)
    assert str(last) == "it ends before its end"


def test_file_that_a_server_has_just_opened_has_no_calls_yet(tmp_path: Path) -> None:
    assert [str(each) for each in read(_file(tmp_path, b""))] == ["it ends before its end"]


def test_invalid_line_is_named(tmp_path: Path) -> None:
    good = line(1, _request({}), _answer())
    text = head(DEFAULT_OPTIONS) + good + b"{nonsense\n" + b"[1]\n" + good

    found = list(read(_file(tmp_path, gzip.compress(text))))

    assert [isinstance(each, RecordedCall) for each in found] == [True, False, False, True]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b"\n", "100 lines up to line 101 are not calls; the rest is not read", id="newlines"),
        pytest.param(
            b"[", f"line 2 is longer than {LONGEST} bytes; the rest is not read", id="one line", marks=pytest.mark.slow
        ),
    ],
)
def test_recording_that_unpacks_to_much_is_refused_in_little_memory(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    packer = zlib.compressobj(wbits=31)
    packed = packer.compress(head(DEFAULT_OPTIONS)) + packer.compress(content * 2**26) + packer.flush()
    path = _file(tmp_path, packed)

    tracemalloc.start()
    try:
        *_, last = read(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert str(last) == reason
    assert peak < 2**26
    assert len(packed) < 2**17


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b"no gzip", "not a recording of this program", id="no gzip"),
        pytest.param(gzip.compress(b'{"level":"info"}\n{}\n'), "not a recording of this program", id="another program"),
        pytest.param(
            gzip.compress(head(DEFAULT_OPTIONS).replace(b'"version":1', b'"version":2')),
            f"it has version {VERSION + 1} of the format",
            id="a newer version",
        ),
        pytest.param(
            gzip.compress(head(DEFAULT_OPTIONS).replace(b"false", b"true ")),
            "it is damaged",
            id="a damaged head",
        ),
    ],
)
def test_another_file_is_refused_with_the_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(RecordingError, match=reason):
        list(read(_file(tmp_path, content)))


def test_damage_changes_no_call_without_a_word(tmp_path: Path) -> None:
    content = head(Options(resource_quota_estimate=True))
    content += b"".join(line(n, _request({"replicas": n}), _answer(replicas=n)) for n in range(20))
    whole = [*read(_file(tmp_path, gzip.compress(content)))]
    packer = zlib.compressobj(1, wbits=31)
    # As a server writes it that was killed: without a checksum at the end.
    packed = packer.compress(content) + packer.flush(zlib.Z_SYNC_FLUSH)
    _check_damage(tmp_path, packed, whole, lambda text: text)
    _check_damage(tmp_path, content, whole, gzip.compress)


def _check_damage(folder: Path, content: bytes, whole: Sequence[object], pack: Callable[[bytes], bytes]) -> None:
    for place in range(0, len(content), 7):
        damaged = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        try:
            found = [*read(_file(folder, pack(damaged)))]
        except RecordingError:
            continue
        calls = [call for call in found if isinstance(call, RecordedCall)]
        assert all(call in whole for call in calls), f"byte {place}"
        assert calls == whole or len(calls) < len(found), f"byte {place}: what is lost is named"


def test_recording_of_version_0_1_is_read(tmp_path: Path) -> None:
    about = orjson.loads(head(DEFAULT_OPTIONS))
    del about["digest"]
    call = b'{"time":1,"request":{},"answer":{"response":{}}}'
    (read_call,) = read(_file(tmp_path, gzip.compress(orjson.dumps(about) + b"\n" + call + b"\n")))
    assert isinstance(read_call, RecordedCall)
