import json
import os
import re
import tty
from contextlib import suppress
from functools import cache
from typing import Any

from tests.support.waiting import HANG
from tests.webhook.log_alone import LOG_ALONE
from tests.webhook.process.forked import forked

PROGRAM = f"""{LOG_ALONE}
import logging, sys

def fail(secret):
    raise ValueError("no luck")

configure_log(sys.argv[1])
for report in (log.exception, logging.getLogger("a.library").exception):
    try:
        fail("password")
    except ValueError:
        report("went wrong")
log.debug("details", uid="1")
log.info("call failed", uid="1", code=422)
logging.getLogger("a.library").info("chatter")
"""
HOSTILE = (
    LOG_ALONE
    + """
import logging

class Broken:
    def __str__(self):
        raise ValueError("no text")

configure_log("info")
log.info("a", value="half \\ud800")
log.info("b", value=["half \\ud800"], name="kept")
log.info("c", value=2**70)
log.info("d", value={1: 2})
log.info("e", value=Broken())
log.info("f", **{"half \\ud800": 1})
log.info("g", value="a\\nb\\x7f\\x9b2J\\u2028 \\xe4")
logging.getLogger("a.library").warning("half \\ud800")
"""
)


@cache
def written(program: str, level: str = "") -> str:
    """What a program writes to stderr that is no terminal."""
    with forked(program, level) as (process, stdout, stderr):
        said = stderr.read().decode()
        process.join(HANG)
        assert (process.exitcode, stdout.read()) == (0, b"")
    return said


def logged(program: str, level: str = "") -> list[dict[str, Any]]:
    return [json.loads(line) for line in written(program, level).splitlines()]


def test_log_line_is_one_json_object() -> None:
    lines = logged(PROGRAM, "debug")
    assert [line["message"] for line in lines] == ["went wrong", "went wrong", "details", "call failed"]
    assert lines[-1] | {"time": ""} == {"message": "call failed", "level": "info", "time": "", "uid": "1", "code": 422}
    assert all(line["time"].endswith("Z") for line in lines)


def test_error_has_traceback_without_values() -> None:
    for line in logged(PROGRAM, "info")[:2]:
        assert "in fail" in line["exception"]
        assert "ValueError: no luck" in line["exception"]
        assert "password" not in line["exception"].replace('fail("password")', "")


def test_level_is_the_least_that_is_logged() -> None:
    assert [line["level"] for line in logged(PROGRAM, "error")] == ["error", "error"]
    assert [line["message"] for line in logged(PROGRAM, "info")] == ["went wrong", "went wrong", "call failed"]


def test_unusual_values_are_logged() -> None:
    lines = logged(HOSTILE)
    assert [line["message"] for line in lines] == [*"abcdefg", "half ?"]
    assert [line.get("value") for line in lines[:5]] == ["half ?", r"['half \ud800']", str(2**70), "{1: 2}", "<Broken>"]
    assert lines[1]["name"] == "kept"
    assert lines[5]["half ?"] == "1"
    assert lines[6]["value"] == "a\nb\x7f\x9b2J\u2028 \xe4"


def test_value_neither_steers_terminal_nor_forges_line() -> None:
    lines = written(HOSTILE).split("\n")
    assert r'"a\nb\u007f\u009b2J\u2028 ä"' in lines[6]
    assert all(line.isprintable() for line in lines)


def shown(program: str) -> list[str]:
    """What the log has on a terminal, without the time."""
    ours, its = os.openpty()
    tty.setraw(its)  # a line ends as the program wrote it
    text = b""
    with forked(program, "info", stderr_ends=(ours, its)) as (process, _, stderr):
        with suppress(OSError):  # the program has ended
            while read := os.read(stderr.fileno(), 4096):
                text += read
        process.join(HANG)
        assert process.exitcode == 0
    return [re.sub(r"^\d\d:\d\d:\d\d ", "", line) for line in text.decode().split("\n")[:-1]]


def test_text_has_a_line_for_each_record_and_its_traceback_below() -> None:
    lines = shown(PROGRAM)
    assert [line for line in lines if not line.startswith(" ")] == [
        "error went wrong",
        "error went wrong",
        "info call failed uid=1 code=422",
    ]
    assert lines[1] == "  Traceback (most recent call last):"
    assert "  ValueError: no luck" in lines


def test_text_has_every_value_and_none_steers_a_terminal_or_forges_a_line() -> None:
    lines = shown(HOSTILE)
    assert lines[0] == 'info a value="half ?"'
    assert lines[1] == r"""info b value="['half \\ud800']" name=kept"""
    assert lines[6] == r'info g value="a\nb\x7f\x9b2J\u2028 ä"'
    assert [line.split()[1] for line in lines] == [*"abcdefg", "half"]
    assert all(line.isprintable() for line in lines)
