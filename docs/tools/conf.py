"""Settings of Sphinx for the documentation site, which `make docs` builds from docs/."""

import os
import re
from typing import Any

from docutils import nodes

from docs.tools import navigation
from docs.tools.terminal import TerminalLexer
from karta_interpreter import __version__

project = "karta-interpreter"
project_copyright = "The karta-interpreter authors"
release = __version__
root_doc = "index"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["examples", "tools"]
default_role = "code"
smartquotes = False
pygments_style = "default"
myst_enable_extensions = ["html_image"]  # a logo with a width, which GitHub shows as well
myst_heading_anchors = 4  # with the names that GitHub gives them
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
add_module_names = False

html_theme = "pydata_sphinx_theme"
html_title = project
html_favicon = html_logo = "../icon.svg"
html_static_path = ["../site"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_extra_path = ["../site/404.html"]
html_sidebars: dict[str, list[str]] = {"index": [], "tutorial": []}
html_baseurl = os.environ.get("DOCS_ADDRESS", "")
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": project},
    "header_links_before_dropdown": 6,
    "icon_links": [{"name": "GitHub", "url": navigation.HOME, "icon": "fa-brands fa-github"}],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_prev_next": False,
    "search_bar_text": "Search",
}
linkcheck_anchors = False
linkcheck_timeout = 20
linkcheck_ignore = [r"https?://localhost", r"https?://127\.", navigation.HOME, navigation.SITE]

DEVELOPERS = "developers/"
"""The folder of pages that the search of users leaves out."""

MOST_COLUMNS, LONG = 3, 50
"""A table of texts has at most this many columns, and a cell with more characters than this."""

_BOX = re.compile(r'^ *(c\d+)\[+"(.*)"\]+(:::elastic)?$', re.MULTILINE)
_ARROW = re.compile(r'^ *(c\d+) -->(?:\|"(.*)"\|)? ?(c\d+)$', re.MULTILINE)


def _read_source(_app: object, page: str, source: list[str]) -> None:
    text = navigation.on_site(source[0], page)
    hidden = "---\nnosearch: true\n---\n\n" if page.startswith(DEVELOPERS) else ""
    source[0] = hidden + text + (navigation.toctrees(page) if page in navigation.SECTIONS else "")


def _draw(_app: object, page: nodes.document) -> None:
    """Put lists in the place of Mermaid's flowcharts, which only a script from elsewhere could draw."""
    for block in list(page.findall(nodes.literal_block)):
        if block.get("language") == "mermaid":
            block.replace_self(_components(block.astext()))


def _stack_tables(_app: object, page: nodes.document) -> None:
    """Mark the tables of texts, whose rows a narrow screen shows as blocks: those of names and what they mean."""
    for table in page.findall(nodes.table):
        header, *rows = list(table.findall(nodes.row))
        if len(header) <= MOST_COLUMNS and any(len(cell.astext()) > LONG for row in rows for cell in row):
            table["classes"].append("texts")


def _components(chart: str) -> nodes.Element:
    """Return the boxes of a flowchart of components as a list, each with those that its arrows lead to."""
    owners = {arrow[3]: (arrow[1], arrow[2]) for arrow in _ARROW.finditer(chart)}
    items = {box[1]: _box(box[2], bool(box[3]), *owners.get(box[1], ())[1:]) for box in _BOX.finditer(chart)}
    tree = nodes.bullet_list(classes=["components"])
    for name, item in items.items():
        if name not in owners:
            tree += item
            continue
        owner = items[owners[name][0]]
        if len(owner) == 1:
            owner += nodes.bullet_list()
        owner[1] += item
    return tree


def _box(label: str, is_elastic: bool, arrow: str | None = None) -> nodes.Element:
    """Return the item of a component: its name, what else its box has, and the words at the arrow to it."""
    name, *facts = label.split("<br/>")
    facts += [each for each in ("elastic" if is_elastic else "", arrow) if each]
    text = nodes.paragraph(classes=["elastic"] if is_elastic else [])
    text += [nodes.strong(name, name), nodes.Text("".join(f", {fact}" for fact in facts))]
    return nodes.list_item("", text)


def _read_docstring(_app: object, _what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """Make code of what stands between backquotes, one or two, and drop what Python writes by itself."""
    lines[:] = [line if ">>>" in line else re.sub(r"(`+)([^`]+)\1", r"``\2``\\ ", line) for line in lines]
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()


def _add_filter(app: Any, page: str, *_context: object) -> None:  # noqa: ANN401 - Sphinx is there for the site only
    if page == "catalogue/README":
        app.add_js_file("catalogue.js")


def setup(app: Any) -> None:  # noqa: ANN401 - Sphinx is there for the site only
    """Connect what this site does in its own way."""
    app.add_lexer("console", TerminalLexer)
    app.connect("source-read", _read_source)
    app.connect("doctree-read", _draw)
    app.connect("doctree-read", _stack_tables)
    app.connect("html-page-context", _add_filter)
    app.connect("autodoc-process-docstring", _read_docstring)
