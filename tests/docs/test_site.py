"""The documentation site: its navigation has every page, and what `make docs` checks of the pages that it builds."""

import re
from collections import Counter
from pathlib import Path
from posixpath import join, normpath

import pytest
from pygments.token import Generic, Name, Number

from docs.tools import check_prose, check_site, navigation, write_site
from docs.tools.terminal import TerminalLexer
from tests.support.rows import rows

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FILE = f"{navigation.HOME}/blob/main"
PAGE = '<link rel="canonical" href="https://example.com/"><a href="other/b.html#there">b</a><p id="here">'


@pytest.mark.catalogue
def test_pages_are_once_in_the_navigation() -> None:
    entries = Counter(
        normpath(join(section, "..", page))
        for section in navigation.SECTIONS
        for _, pages in navigation.groups(section)
        for page in pages
    )
    files = {*DOCS.rglob("*.md"), *write_site.pages()}
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in files}
    assert entries == Counter(pages - {"index"}), "list each page in docs/how-to.md, reference.md or explanation.md"


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 100


def test_readme_figures_are_those_of_the_pages() -> None:
    readme = (ROOT / "README.md").read_text()
    proofs = re.findall(r"^- \[\w+\]\((.*)\)((?:.*\n  )*.*)", readme.partition("## What proves it")[2], re.MULTILINE)
    figures = {page: re.findall(r"\*\*(.*?)\*\*", text) for page, text in proofs[:2]}
    assert all(figures.values())
    assert {page: [one for one in each if one not in (ROOT / page).read_text()] for page, each in figures.items()} == {
        page: [] for page in figures
    }


@rows(
    ("text", "shown"),
    [
        pytest.param("[a](../LICENSE)", f"[a]({FILE}/LICENSE)", id="a file above docs"),
        pytest.param("[a](../deploy/helm#x)", f"[a]({FILE}/deploy/helm#x)", id="a folder, with an anchor"),
        pytest.param("[a](examples/first/karta.yaml)", f"[a]({FILE}/docs/examples/first/karta.yaml)", id="an example"),
        pytest.param("[a](cli.md#options)", "[a](cli.md#options)", id="a page of the site"),
        pytest.param("[a](../interpreter/karta_interpreter/cli/types_api.py)", "[a](commands.md#types-api)",
            id="the module of a command"),
        pytest.param("![a](performance/core.png)", "![a](performance/core.png)", id="a picture of the site"),
        pytest.param("[a](../none.md)", "[a](../none.md)", id="no file: Sphinx warns of it"),
        pytest.param("```\n[a](../LICENSE)\n```", "```\n[a](../LICENSE)\n```", id="code"),
        pytest.param("[cli.md](cli.md#options)", "[](cli.md#options)",
            id="a page by its file name, which gets a title"),
        pytest.param("[LICENSE.md](../LICENSE)", f"[LICENSE.md]({FILE}/LICENSE)", id="a file by its name keeps it"),
        pytest.param("[a](https://karmada.io)", "[a](https://karmada.io)", id="another site"),
    ],
)  # fmt: skip
def test_links_on_the_site(text: str, shown: str) -> None:
    assert navigation.on_site(text, "server") == shown


@pytest.mark.parametrize(
    ("added", "problem"),
    [
        pytest.param("", "", id="what is there, and a canonical address, which nothing loads"),
        pytest.param('<a href="https://example.com/x">', "", id="a link to another site loads nothing"),
        pytest.param('<a href="#here"><a href="other/">', "", id="an id of the page, a folder with an index"),
        pytest.param('<script src="https://cdn.example.com/x.js"></script>', "loads https", id="a script"),
        pytest.param('<script src="//cdn.example.com/x.js"></script>', "loads //cdn", id="a script, without a scheme"),
        pytest.param('<link rel="stylesheet" href="https://fonts.example.com/f">', "loads https", id="a style"),
        pytest.param('<img src="https://example.com/x.png">', "loads https", id="a picture"),
        pytest.param('<a href="none.html">', "links to none.html", id="a page that does not exist"),
        pytest.param('<a href="other/b.html#gone">', "links to other/b.html#gone", id="an id that does not exist"),
        pytest.param('<a href="#gone">', "links to #gone", id="an id that this page does not have"),
        pytest.param('<img src="none.png">', "links to none.png", id="a picture that does not exist"),
    ],
)
def test_site_check_finds_dead_links_and_foreign_loads(added: str, problem: str, tmp_path: Path) -> None:
    check_site.read.cache_clear()
    (tmp_path / "other").mkdir()
    (tmp_path / "a.html").write_text(PAGE + added)
    for name in ("b.html", "index.html"):
        (tmp_path / "other" / name).write_text('<p id="there">')
    found = list(check_site.problems(tmp_path))
    assert len(found) == bool(problem)
    assert problem in "".join(found)


def test_styles_of_the_built_site_load_nothing_from_elsewhere(tmp_path: Path) -> None:
    text = (
        '@import url("https://fonts.example.com/f.css"); a {background: url(//example.com/x)} b {src: url(../y.woff2)}'
    )
    (tmp_path / "style.css").write_text(text)
    assert list(check_site.problems(tmp_path)) == [
        "style.css loads https://fonts.example.com/f.css",
        "style.css loads //example.com/x",
    ]


def test_console_blocks_have_the_colours_of_their_output() -> None:
    block = '$ cat a.yaml | \\\n> head\nkind: Karta\n$ curl x\n{"a": 1}\n$ karta-interpreter tree\nTrainJob a\n'
    parts = list(TerminalLexer().get_tokens(block))
    assert "".join(text for _, text in parts) == block
    assert [text for kind, text in parts if kind is Generic.Prompt] == ["$ ", "> ", "$ ", "$ "]
    assert {(Name.Tag, "kind"), (Number.Integer, "1"), (Generic.Output, "TrainJob a\n")} <= set(parts)


@rows(
    ("text", "problem"),
    [
        pytest.param("One sentence. Another one.", "", id="plain"),
        pytest.param("a; b " + "word " * 98, "page: semicolon: 100 per 10,000 words, planned 40", id="a semicolon"),
        pytest.param("`a; b` " + "word " * 98, "", id="code"),
        pytest.param(
            "keeps what it has " + "word " * 96, "page: relative what: 100 per 10,000 words, planned 8", id="what"
        ),
    ],
)
def test_prose_counts_phrases_outside_of_code(text: str, problem: str) -> None:
    assert "".join(check_prose.phrases("page", iter([text]))) == problem
