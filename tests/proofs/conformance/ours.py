"""Our engine, asked the same."""

from functools import partial
from traceback import format_exception

from karta_interpreter.base.errors import LuaError
from tests.proofs.conformance.question import Outcome, Question
from tests.support.scripts import answer


def ask(question: Question) -> Outcome:
    """Answer a question; an exception that no script should cause is a defect, which agrees with nothing."""
    ask_about = answer if question.items is None else partial(answer, items=question.items)
    if question.components is not None:
        ask_about = partial(answer, components=[component._asdict() for component in question.components])
    try:
        results = ask_about(
            question.scripts, object=question.object, observed=question.observed, replicas=question.replicas
        )
    except LuaError as error:
        return Outcome(None, f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001 - one of thousands of questions; the others are to be asked as well
        return Outcome(None, "".join(format_exception(error)), defect=True)
    return Outcome(results)
