"""A drafted Karta as YAML with its notes as comments."""

import textwrap

import yaml

from karta_interpreter.k8s.manifest import read_documents
from karta_interpreter.karta.drafting import Draft

_WIDTH = 118


def draft_text(draft: Draft, title: str) -> str:
    """The Karta in the order of a person who writes one, each note in the lines above what it is about."""
    text = yaml.dump(draft.karta, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    (document,) = read_documents(text, title)
    lines = text.splitlines()
    above: dict[int, list[str]] = {0: [title]}
    for path, note in draft.notes:
        above.setdefault(document.position(path)[0] - 1, []).append(note)
    return "".join(f"{line}\n" for index, line in enumerate(lines) for line in [*_comments(above, index, lines), line])


def _comments(above: dict[int, list[str]], index: int, lines: list[str]) -> list[str]:
    indent = " " * (len(lines[index]) - len(lines[index].lstrip()))
    return [part for note in above.get(index, ()) for part in _wrapped(note, f"{indent}# ")]


def _wrapped(note: str, prefix: str) -> list[str]:
    return textwrap.wrap(note, _WIDTH, initial_indent=prefix, subsequent_indent=prefix, break_on_hyphens=False)


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Lists are indented below what they belong to, as in the definitions of the catalogue."""
        del indentless
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: object) -> bool:
        """Shared parts are written out."""
        del data
        return True
