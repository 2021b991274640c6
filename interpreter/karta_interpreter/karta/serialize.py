"""A definition on its way to another process, as JSON."""

from dataclasses import asdict

from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.annotations import PREFIX
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.loading import load_definition
from karta_interpreter.karta.reference_resolver import Known
from karta_interpreter.lua.script import Script, Scripts

_LUA = f"{PREFIX}lua"


def pack(definition: Definition) -> Object:
    """What `unpack` needs; compiled expressions stay behind.

    It has all scripts, also those of the annotation, so that `unpack` does not parse them again.
    """
    return {
        "manifest": _without_scripts(definition.manifest) if definition.has_karta else None,
        "kind": tuple(definition.gvk),
        "scripts": [asdict(script) for script in definition.scripts],
    }


def _without_scripts(manifest: Object) -> Object:
    metadata = manifest.get("metadata", {})
    annotations = metadata.get("annotations") or {}
    if _LUA not in annotations:
        return manifest
    rest = {name: value for name, value in annotations.items() if name != _LUA}
    return {**manifest, "metadata": {**metadata, "annotations": rest}}


def pack_known(known: Known) -> Object:
    """What `unpack_known` needs."""
    objects = [obj for found in known.objects.values() for obj in found]
    return {"objects": objects, "complete": [tuple(gvk) for gvk in sorted(known.complete)]}


def unpack_known(packed: Object) -> Known:
    """The objects that were packed."""
    return Known.of(packed["objects"], (GVK(*gvk) for gvk in packed["complete"]))


def unpack(packed: Object) -> Definition:
    """The definition that was packed, but for its source and the places of its findings."""
    scripts = Scripts(Script(**(each | {"lines": tuple(each["lines"])})) for each in packed["scripts"])
    if packed["manifest"] is None:
        return Definition.of_scripts(GVK(*packed["kind"]), scripts)
    return load_definition(packed["manifest"]).overridden(scripts)
