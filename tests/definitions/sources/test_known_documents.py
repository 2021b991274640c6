import random
from collections.abc import Callable

import pytest

from karta_interpreter.definitions.karta.loading import Loaded, load_documents
from karta_interpreter.definitions.sources.known_documents import KnownDocuments
from tests.support.rows import rows

Karta = Callable[..., str]

_WARNED = "# karta-interpreter: ignore[no-such-rule] a test\n"
_SCRIPT = """\
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: other}
"""


def _definitions(loaded: list[Loaded]) -> dict[str, object]:
    return {one.name: one.definition for one in loaded}


def test_one_changed_document_leaves_definitions_of_others(karta: Karta) -> None:
    known, texts = KnownDocuments(), [karta(kind) for kind in "ABCD"]
    before = _definitions(known.load("---\n".join(texts), "all.yaml"))

    texts[1] = karta("B", replicas=".spec.size") + "# longer\n# by two lines\n"
    loaded = known.load("---\n".join(texts), "all.yaml")

    after = _definitions(loaded)
    assert [name for name in after if after[name] is before[name]] == ["a", "c", "d"]
    assert loaded == load_documents("---\n".join(texts), "all.yaml")


def test_documents_are_known_again_after_text_was_unreadable(karta: Karta) -> None:
    known, text = KnownDocuments(), f"{karta('A')}---\n{karta('B')}"
    before = _definitions(known.load(text, "all.yaml"))

    (unreadable,) = known.load(f"{text}---\n[", "all.yaml")

    assert unreadable.definition is None
    after = _definitions(known.load(text, "all.yaml"))
    assert all(after[name] is before[name] for name in ("a", "b"))


_EDITS = {
    "piece in flow style": "---\n{kind: Karta, a: [\n",
    "text that goes on": "--- >\n  a\n--- b\n",
    "quotes that stay open": '---\na: "b\n',
    "directive": "%YAML 1.1\n---\na: 1\n",
    "end of document": "...\n---\na: 1\n",
    "Windows": "---\r\na: 1\r\n",
    "old line break": "---\na: 1\rb: 2\n",
    "line separator": "---\na: b\u2028---\nc: d\n",
    "JSON": '---\n{"a": "b\\ud83d\\ude00"}\n',
    "only comments": "---\n# nothing\n",
    "separator with a value": "--- {kind: Karta}\n",
    "separator in a text": "---\na: |\n  x\n  ---\n  y\n",
    "no separator": "----\n",
    "ignore": f"---\n{_WARNED}kind: Karta\n",
    "customization": f"---\n{_SCRIPT}",
    "list": "---\nkind: List\nitems: [{kind: Karta}, {kind: Job}]\n",
    "alias without anchor": "---\na: *b\n",
    "anchor": "---\na: &b 1\nc: *b\n",
    "byte order mark": "\ufeff---\na: 1\n",
}


@rows("text", [pytest.param(text, id=name) for name, text in _EDITS.items()])
def test_loaded_again_is_loaded_anew(text: str, karta: Karta) -> None:
    """At each place of a file that was and is right, and again without it."""
    parts = [karta("A"), f"---\n{karta('B', replicas='.spec.[')}", f"---\n{karta('C')}", f"---\n{karta('D')}"]
    for place in range(len(parts) + 1):
        known = KnownDocuments()
        for pieces in (
            parts,
            [*parts[:place], text, *parts[place:]],
            [*parts[:place], text, text, *parts[place:]],
            parts,
        ):
            assert known.load("".join(pieces), "all.yaml") == load_documents("".join(pieces), "all.yaml")


@pytest.mark.slow
def test_any_edits_load_as_anew(karta: Karta) -> None:
    pieces = [*_EDITS.values(), *(f"---\n{karta(kind)}" for kind in "ABC"), f"---\n{karta('D', replicas='.a.[')}"]
    for seed in range(100):
        chance = random.Random(seed)  # noqa: S311 - a repeatable example
        known, text = KnownDocuments(), [pieces[-1]]
        for _ in range(6):
            text.insert(chance.randrange(len(text) + 1), chance.choice(pieces))
            if len(text) > 3:
                del text[chance.randrange(len(text))]
            assert known.load("".join(text), "all.yaml") == load_documents("".join(text), "all.yaml"), seed
