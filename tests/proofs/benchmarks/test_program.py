import sys
from pathlib import Path

import pytest

from tests.proofs.benchmarks.program import MeasurementError, Program

ECHO = """
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    if "end" in question:
        sys.exit(1)
    print(json.dumps(question), flush=True)
"""


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    file = tmp_path / "echo.py"
    file.write_text(ECHO)
    return file


def test_questions_are_answered_one_by_one(echo: Path) -> None:
    with Program(sys.executable, echo) as program:
        assert program.ask(count=1) == {"count": 1}
        program.tell({"count": 2})
        assert program.hear() == {"count": 2}


def test_error_in_answer_is_raised(echo: Path) -> None:
    with Program(sys.executable, echo) as program, pytest.raises(MeasurementError, match="not a success"):
        program.ask(error="not a success")


def test_ended_program_is_started_again(echo: Path) -> None:
    with Program(sys.executable, echo) as program:
        with pytest.raises(MeasurementError, match=r"echo\.py has ended"):
            program.ask(end=True)
        assert program.ask(count=1) == {"count": 1}
