"""YAML and JSON text as documents that know where their values stand."""

from dataclasses import dataclass, field

import yaml

from karta_interpreter.errors import ManifestError
from karta_interpreter.k8s.assembly import Assembly, Mark
from karta_interpreter.k8s.events import parse_events
from karta_interpreter.k8s.values import JSON, Path

MOST_DOCUMENTS = 10_000
"""How many objects a text may hold: nobody writes more, and each takes a kilobyte or more of memory."""
_TOO_MANY = f"more than {MOST_DOCUMENTS} documents in one text"
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class Document:
    """One document of a manifest; ``index`` counts from 0 and ``line`` from 1."""

    value: JSON
    source: str
    index: int
    line: int
    _mark: Mark = field(repr=False, compare=False)

    def position(self, path: Path) -> tuple[int, int]:
        r"""Line and column, from 1, of the value at ``path``, or of its nearest ancestor that exists.

        >>> (document,) = read_documents("kind: Job\nspec:\n  suspend: true\n", "job.yaml")
        >>> document.position(("spec", "suspend"))
        (3, 12)
        """
        mark = self._mark
        for step in path:
            if step not in mark.parts:
                break
            mark = mark.parts[step]
        return mark.line, mark.column


def read_documents(text: str, source: str) -> list[Document]:
    r"""The documents of a manifest in their order, the empty ones left out.

    YAML means what it means to the API server, but a key that appears twice, a key that is not a string, and
    NaN or infinity are refused, and so are more than 10,000 documents. ``source`` names the text in the documents.
    Raises ManifestError; its message leaves out source, line and column.

    >>> [document.value for document in read_documents("replicas: 2\n---\n# nothing\n---\n[on]", "-")]
    [{'replicas': 2}, [True]]
    """
    documents: list[Document] = []
    assembly = Assembly()
    for event in parse_events(text.removeprefix(_BYTE_ORDER_MARK)):
        match event:
            case yaml.StreamStartEvent() | yaml.StreamEndEvent():
                continue
            case yaml.DocumentStartEvent():
                assembly = Assembly()
            case yaml.DocumentEndEvent():
                mark, index = assembly.mark, len(documents)
                if index == MOST_DOCUMENTS:
                    raise ManifestError(_TOO_MANY, line=mark.line, column=mark.column)
                if assembly.value is not None:
                    documents.append(Document(assembly.value, source, index, mark.line, mark))
            case _:
                assembly.add(event)
    return documents
