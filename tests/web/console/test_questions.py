"""Hostile texts: they end at a deadline, in another process, and a newer request ends an older one."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from karta_interpreter.base.findings import PLACES
from karta_interpreter.base.sandbox.awaiting import Exchange
from karta_interpreter.web.console.questions import QuestionError, Questions
from karta_interpreter.web.console.texts import EDITORS
from tests.support.settling import processes_of
from tests.support.waiting import until
from tests.web.console.test_answers import CRD, KARTA, OBJECT

GOOD: dict[str, Any] = {"karta": KARTA, "object": OBJECT}


def body(**question: Any) -> bytes:
    return json.dumps(question).encode()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def questions() -> AsyncIterator[Questions]:
    """Processes for all hostile texts, which leave them as they are or end them."""
    questions = Questions(60.0)
    yield questions
    await questions.close()


async def test_slow_answer_is_stopped() -> None:
    questions = Questions(0.1)
    try:
        with pytest.raises(QuestionError, match=r"takes longer than|processor time"):
            await questions.ask(body(object="- [" + "a, " * 400_000 + "]"))
    finally:
        await questions.close()


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        pytest.param({"karta": CRD}, "given in the tab CRD", id="a CRD as the Karta"),
        pytest.param({"karta": OBJECT}, "and this in the tab Object", id="an object as the Karta"),
        pytest.param({"suite": CRD}, "move it to the tab CRD", id="a CRD as the suite"),
        pytest.param({"suite": OBJECT}, "Add as a case, at an answer, writes one", id="an object as the suite"),
    ],
)
async def test_messages_name_the_editors_of_the_page(questions: Questions, texts: dict[str, str], words: str) -> None:
    assert words in (await questions.ask(body(**texts))).decode()
    assert PLACES.keys() <= EDITORS.keys()


@pytest.mark.slow
async def test_cancelled_question_ends_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    send, sent = Exchange.send, asyncio.Event()

    async def sending(*arguments: Any, **options: Any) -> None:
        await send(*arguments, **options)
        sent.set()

    monkeypatch.setattr(Exchange, "send", sending)
    questions = Questions(60.0)
    try:
        task = asyncio.create_task(questions.ask(body(object="- [" + "a, " * 1_200_000 + "]")))
        await sent.wait()
        before = processes_of(questions.pool)
        task.cancel()
        await until(lambda: before.isdisjoint(processes_of(questions.pool)))
        assert json.loads(await questions.ask(body(**GOOD)))["answers"]
    finally:
        await questions.close()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    "question",
    [
        pytest.param({"object": "{a: " * 3000 + "}" * 3000}, id="deep nesting in the object"),
        pytest.param({"karta": "- " * 3000, "object": OBJECT}, id="deep nesting in the Karta"),
        pytest.param(
            {"karta": KARTA.replace(".spec.replicas // 1", "(" * 3000), "object": OBJECT}, id="in an expression"
        ),
        pytest.param({"karta": "a: &a [x, x]\nb: [*a, *a]", "object": OBJECT}, id="aliases"),
        pytest.param(
            {"karta": KARTA.replace(".spec.replicas // 1", "[range(1e12)] | length"), "object": OBJECT}, id="endless"
        ),
        pytest.param({"object": OBJECT.replace("replicas: 3", "replicas: 1e999"), "karta": KARTA}, id="infinity"),
    ],
)
async def test_hostile_text_has_document_or_reason(questions: Questions, question: dict[str, Any]) -> None:
    assert await outcome(questions, question)


async def outcome(questions: Questions, question: dict[str, Any]) -> Any:
    """The document, or the reason why there is none."""
    try:
        return json.loads(await questions.ask(body(**question)))
    except QuestionError as error:
        return str(error)
