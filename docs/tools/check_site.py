"""Check the built documentation site: it loads nothing from elsewhere, and each of its links leads somewhere.

Sphinx warns of broken links that Markdown has. This also sees those that templates and raw HTML make.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADS = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "video": "src"}
_STYLE_LOADS = re.compile(r"url\(\s*['\"]?((?:https?:)?//[^)'\"]+)|@import\s+(?:url\()?['\"]((?:https?:)?//[^'\"]+)")
_NO_REQUEST = {"canonical", "author", "license", "search", "index", "next", "prev"}


class Page(HTMLParser):
    """The ids of a page, its links, and the addresses that a browser loads with it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what one tag has."""
        values = {name: value or "" for name, value in attrs}
        self.ids.add(values.get("id", ""))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in _LOADS and _LOADS[tag] in values and values.get("rel") not in _NO_REQUEST:
            self.loads.append(values[_LOADS[tag]])


read = cache(Page)


def problems(site: Path) -> Iterator[str]:
    """Yield each problem of a site in one line."""
    for file in sorted(set(site.rglob("*.html")) - set(site.rglob("_static/*.html"))):
        name, page = file.relative_to(site), read(file)
        yield from (f"{name} loads {address}" for address in page.loads if urlsplit(address).netloc)
        for address in {*page.loads, *page.links}:
            if not "".join(urlsplit(address)[:2]) and not leads_somewhere(site, file, address):
                yield f"{name} links to {address}, which does not exist"
    for style in sorted(site.rglob("*.css")):
        for found in _STYLE_LOADS.findall(style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(site)} loads {''.join(found)}"


def leads_somewhere(site: Path, file: Path, address: str) -> bool:
    """Return whether a relative address of a file leads to a file of the site, and to an id in it."""
    parts = urlsplit(address)
    path = unquote(parts.path)
    target = site / path.lstrip("/") if path.startswith("/") else file.parent / path
    if not path:
        target = file
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return False
    return target.suffix != ".html" or unquote(parts.fragment) in {*read(target).ids, ""}


def main() -> int:
    """Print the problems of the site in the folder that is given."""
    found = list(problems(Path(sys.argv[1])))
    sys.stderr.write("".join(f"{problem}\n" for problem in found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
