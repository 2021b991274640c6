"""The navigation of the documentation site: the lists of links in its section pages.

A section page is plain Markdown that GitHub shows as well. Each list item that begins with a link to a page is an
entry of the navigation, and so is each table row that does; a heading above them is the caption of a group.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from posixpath import normpath

DOCS = Path(__file__).parents[1]
HOME = "https://github.com/karta-interpreter/karta-interpreter"
SITE = "https://karta-interpreter.github.io/karta-interpreter/"
SECTIONS = (
    "index",
    "how-to",
    "reference",
    "explanation",
    "catalogue/README",
    "developers/README",
    "developers/decisions/README",
)
"""The pages whose lists are the navigation, by their names without the suffix."""

_KARTA = re.compile(r"\]\(\.\./\.\./kartas/([\w.-]+)/(\w+)/(\w+)/karta\.yaml\)")
_COMMAND = re.compile(r"\]\(\.\./interpreter/karta_interpreter/cli(?:/(\w+)\.py)?\)")
_TABLE = re.compile(r"\]\(((?:\.\./)*)(karta-components|other-objects|upstreams)\.yaml\)")
_HEADING = re.compile(r"^## (.+)$")
_ENTRY = re.compile(r"^(?:- |\| )\[([^]]+)\]\(([\w./-]+)\.md\)")
_LINK = re.compile(r"\]\(([^)#\s:]+)(#[^)\s]*)?\)")
_FILE_NAME = re.compile(r"\[[\w/-]+\.md\]\((?=[\w/.-]+\.md[)#])")
_FENCED = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)


def with_site_pages(text: str, page: str) -> str:
    """Return the Markdown of a page with links to the pages that only the site has.

    >>> with_site_pages("[Pod](../../kartas/core/v1/Pod/karta.yaml)", "catalogue/README")
    '[Pod](core-pod-v1.md)'
    >>> with_site_pages("[It](../interpreter/karta_interpreter/cli/types_api.py)", "cli")
    '[It](commands.md#types-api)'
    >>> with_site_pages("[Them](../upstreams.yaml)", "developers/drift")
    '[Them](../catalogue/upstreams.md)'
    """
    text = _TABLE.sub(_table, _COMMAND.sub(_command, text))
    if page not in ("catalogue/README", "catalogue/component-names", "catalogue/other-objects", "catalogue/upstreams"):
        return text.replace("](../deploy/helm)", "](values.md)") if page == "reference" else text
    return _KARTA.sub(lambda found: f"]({'-'.join([found[1].replace('.', '-'), found[3].lower(), found[2]])}.md)", text)


def _command(link: re.Match[str]) -> str:
    """Return the link to a command's part of the page, which the repository has as a module."""
    return f"](commands.md#{link[1].replace('_', '-')})" if link[1] else "](commands.md)"


def _table(link: re.Match[str]) -> str:
    """Return the link to the page that is made from a file of data."""
    name = "component-names" if link[2] == "karta-components" else link[2]
    return f"]({link[1]}catalogue/{name}.md)"


def groups(section: str) -> list[tuple[str, dict[str, str]]]:
    """Return the captions of a section, each with its pages and their names there, in the order of the page."""
    found: list[tuple[str, dict[str, str]]] = [("", {})]
    text = (DOCS / f"{section}.md").read_text(encoding="utf-8")
    for line in with_site_pages(text, section).splitlines():
        if heading := _HEADING.match(line):
            found.append((heading[1], {}))
        elif entry := _ENTRY.match(line):
            found[-1][1][entry[2]] = entry[1].replace("`", "")
    return [(caption, pages) for caption, pages in found if pages]


def toctrees(section: str) -> str:
    """Return the entries of a section as Sphinx takes them."""
    return "".join(
        "\n".join(
            ["", "```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), "", *entries, "```", ""]
        )
        for caption, pages in groups(section)
        for entries in [[f"{name} <{page}>" for page, name in pages.items()]]
    )


def on_site(text: str, page: str) -> str:
    """Return the Markdown of a page as the site shows it.

    Links to files that the site does not have lead to the repository. Links whose text is the name of a file get the
    title of the page or section instead.
    """
    folder = PurePosixPath("docs") / PurePosixPath(page).parent

    def target(link: re.Match[str]) -> str:
        path = normpath(folder / link[1])
        is_page = path.startswith("docs/") and path.endswith((".md", ".png", ".svg"))
        known = not is_page and (DOCS.parent / path).exists()
        return f"]({HOME}/blob/main/{path}{link[2] or ''})" if known else link[0]

    return "".join(
        _FILE_NAME.sub("[](", _LINK.sub(target, part)) if outside else part
        for outside, part in _parts(with_site_pages(text, page))
    )


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the parts of a page, and whether each is outside of fenced blocks."""
    end = 0
    for block in _FENCED.finditer(text):
        yield True, text[end : block.start()]
        yield False, block[0]
        end = block.end()
    yield True, text[end:]
