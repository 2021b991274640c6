from pathlib import Path

import pytest

from tests.proofs.benchmarks.__main__ import PAGES
from tests.proofs.benchmarks.report import PageError, fill, fill_pages, number, table
from tests.proofs.benchmarks.run import SECTIONS
from tests.support.rows import rows


@rows(
    ("value", "expected", "reason"),
    [
        (0.0, "0", "nothing"),
        (0.00456, "0.00456", "small numbers have three digits, too"),
        (0.5, "0.500", "and so have round ones"),
        (9.999, "10.00", "a number that becomes longer by rounding keeps its digits"),
        (21.44, "21.4", "three digits"),
        (158.6, "159", "three digits, and no fraction"),
        (12_345.0, "12,300", "thousands are set apart, and not told to the last one"),
        (1_234_567.0, "1,230,000", "so are millions"),
    ],
)
def test_numbers_have_three_digits_that_count(value: float, expected: str, reason: str) -> None:
    assert number(value) == expected, reason


def test_tables_have_words_left_and_numbers_right() -> None:
    rows = [("5 KB", "21.4", "this"), ("1 MB", "-", "that")]
    assert table(("size", "µs", "server"), rows).splitlines() == [
        "| size | µs | server |",
        "|---|--:|---|",
        "| 5 KB | 21.4 | this |",
        "| 1 MB | - | that |",
    ]


def test_page_keeps_text_outside_of_marks() -> None:
    page = (
        "# Title\n<!-- bench: cpu -->\nold\n<!-- bench: end -->\ntext\n<!-- bench: p-nn -->\n<!-- bench: end -->\nend\n"
    )
    assert fill(page, {"cpu": "new \\1\n", "p-nn": "| 1 |\n"}) == (
        "# Title\n<!-- bench: cpu -->\nnew \\1\n<!-- bench: end -->\n"
        "text\n<!-- bench: p-nn -->\n| 1 |\n<!-- bench: end -->\nend\n"
    )


def test_text_goes_to_page_that_has_its_place() -> None:
    one, two = (f"<!-- bench: {name} -->\n<!-- bench: end -->\n" for name in ("cpu", "start"))
    filled = fill_pages({Path("one"): one, Path("two"): two}, {"start": "text\n"})
    assert filled == {Path("one"): one, Path("two"): fill(two, {"start": "text\n"})}


def test_text_without_place_is_error() -> None:
    page = "<!-- bench: cpu -->\n<!-- bench: end -->\n"
    with pytest.raises(PageError, match="memory, start"):
        fill_pages({Path("page"): page}, {"start": "", "cpu": "", "memory": ""})


def test_pages_have_a_place_for_everything_and_nothing_else() -> None:
    pages = {page: page.read_text() for page in PAGES}
    places = ["setting", "conclusions", "pythons", "capacity", *SECTIONS]
    fill_pages(pages, dict.fromkeys(places, ""))
    assert sum(page.count("<!-- bench: end -->") for page in pages.values()) == len(places)
