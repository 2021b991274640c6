"""Definitions as JSON for other processes."""

import json
from functools import lru_cache

from msgspec import structs

from karta_interpreter.base.k8s import GVK, edit
from karta_interpreter.definitions.karta.annotations import PREFIX
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.versions import in_version
from karta_interpreter.languages.lua.reading import without_linting
from karta_interpreter.languages.lua.script import Script, Scripts

_UNPACKED = 16
_LUA = f"{PREFIX}lua"
_ANNOTATIONS = ("metadata", "annotations")


def pack(definition: Definition) -> str:
    """Return the JSON for `unpack` in another process. It has all scripts, so that none is parsed again."""
    manifest = in_version(definition.manifest, definition.gvk.version) if definition.has_karta else None
    annotations = edit.get(manifest, _ANNOTATIONS) or {}
    if manifest is not None and _LUA in annotations:
        others = {name: value for name, value in annotations.items() if name != _LUA}
        manifest = edit.set_value(manifest, _ANNOTATIONS, others)
    return json.dumps(
        {"manifest": manifest, "kind": tuple(definition.gvk), "scripts": [*map(structs.asdict, definition.scripts)]}
    )


@lru_cache(_UNPACKED)
def unpack(text: str) -> Definition:
    """Return the packed definition, without its source and its warnings. The last ones stay cached."""
    packed = json.loads(text)
    scripts = Scripts(
        Script(**(packed_script | {"lines": tuple(packed_script["lines"])})) for packed_script in packed["scripts"]
    )
    if packed["manifest"] is None:
        return Definition.of_scripts(GVK(*packed["kind"]), scripts)
    with without_linting():  # done where the definition came from
        return load_definition(packed["manifest"]).overridden(scripts)
