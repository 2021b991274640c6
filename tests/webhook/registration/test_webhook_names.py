from hypothesis import given, strategies as st

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.webhook.registration.configuration import webhook_names

_TEXT = st.text(alphabet="aAbB09-._*é", max_size=80)
_KINDS = st.lists(st.builds(GVK, _TEXT, _TEXT, _TEXT), max_size=6, unique=True)


@given(_KINDS)
def test_names_are_qualified_and_all_different(kinds: list[GVK]) -> None:
    names = webhook_names(kinds)

    assert names.keys() == set(kinds)
    assert len(set(names.values())) == len(kinds)
    for name in names.values():
        labels = name.split(".")
        assert len(name) <= 253
        assert len(labels) >= 3
        for label in labels:
            assert 0 < len(label) <= 63
            assert set(label) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
            assert not label.startswith("-")
            assert not label.endswith("-")


def test_kinds_that_differ_in_case_only_get_names_of_their_own() -> None:
    one, other = GVK("a.io", "v1", "Thing"), GVK("a.io", "v1", "THING")

    assert webhook_names([one])[one] == "thing.v1.a.io.karta-interpreter.io"
    assert webhook_names([one, other])[one] != webhook_names([one, other])[other]
