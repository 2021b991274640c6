"""Where definitions come from, and the one immutable snapshot that all of them make.

The catalogue that is part of this package, folders given by the user, the Kartas of a cluster, and the watches that
keep a running server in step with them. The client of an API server is here, too. The meaning of a definition belongs
to `karta_interpreter.definitions.karta`, asking it to `karta_interpreter.engine.operations`.
"""

from karta_interpreter.definitions.sources.background import keep_running
from karta_interpreter.definitions.sources.budget import Budget, weight
from karta_interpreter.definitions.sources.file_scan import list_files, name_of
from karta_interpreter.definitions.sources.files import (
    MAX_BYTES,
    ORIGIN,
    UNREADABLE,
    DefinitionFile,
    Folder,
    compile_catalogue,
    decode,
    find_in_catalogue,
    layer_of,
    load_catalogue,
)
from karta_interpreter.definitions.sources.snapshot import (
    EVERYTHING,
    Overrides,
    Quarantined,
    Selection,
    ServedDefinition,
    Snapshot,
    SourceDefinitions,
    combine,
)
from karta_interpreter.definitions.sources.store import Store

__all__ = [
    "EVERYTHING",
    "MAX_BYTES",
    "ORIGIN",
    "UNREADABLE",
    "Budget",
    "DefinitionFile",
    "Folder",
    "Overrides",
    "Quarantined",
    "Selection",
    "ServedDefinition",
    "Snapshot",
    "SourceDefinitions",
    "Store",
    "combine",
    "compile_catalogue",
    "decode",
    "find_in_catalogue",
    "keep_running",
    "layer_of",
    "list_files",
    "load_catalogue",
    "name_of",
    "weight",
]
