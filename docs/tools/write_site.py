"""Write the pages that only the documentation site has and git ignores: kinds, tables, commands, values of charts.

``python -m docs.tools.write_site``; `make docs` runs it.
"""

from pathlib import Path

from docs.tools import upstreams, write_catalogue, write_reference
from docs.tools.generate import update


def pages() -> dict[Path, str]:
    """Return every page by its path."""
    reference = {"commands": write_reference.commands(), "values": write_reference.values()}
    tables = write_catalogue.tables() | upstreams.pages()
    tables |= {write_reference.DOCS / f"{name}.md": text for name, text in reference.items()}
    return write_catalogue.pages_of_kinds() | tables


def main() -> None:
    """Write the pages, and delete those of kinds that are no longer there."""
    present = set(write_catalogue.FOLDER.glob("*.md")) - write_catalogue.pages().keys()
    update(pages(), present, check=False)


if __name__ == "__main__":
    main()
