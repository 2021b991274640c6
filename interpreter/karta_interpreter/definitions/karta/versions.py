"""Several versions of a kind that one Karta describes.

Such a Karta means the same as one Karta for each version, with that version in place of its own wherever it names a
kind of its own group and version.
"""

import re
from typing import Final

from karta_interpreter.base.k8s import GVK, JSON, Object, edit
from karta_interpreter.definitions.karta.annotations import annotation_path
from karta_interpreter.definitions.karta.identity import gvk_of

OTHER_VERSIONS: Final = annotation_path("other-versions")
_NAME: Final = "[a-z][-a-z0-9]{0,62}"
# Each version is compiled, so a Karta with more of them would cost much more than its size.
_NAMES: Final = re.compile(rf"\s*({_NAME}\s*,\s*){{0,7}}{_NAME}\s*")
_DEPENDENCIES: Final = annotation_path("dependencies")


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of versions in a text, none if it is no list of at most 8 of them.

    >>> names_in("v1beta1, v1alpha1"), names_in("example.io/v1beta1")
    (('v1beta1', 'v1alpha1'), ())
    """
    return tuple(dict.fromkeys(map(str.strip, text.split(",")))) if _NAMES.fullmatch(text) else ()


def kinds_of(karta: Object) -> tuple[GVK, ...]:
    """Return the kinds that a Karta names: its own first, then those of its other versions. It need not be valid.

    >>> kind = {"group": "example.io", "version": "v1", "kind": "Mill"}
    >>> spec = {"structureDefinition": {"rootComponent": {"kind": kind}}}
    >>> annotations = {"karta-interpreter.io/other-versions": "v1beta1"}
    >>> [str(gvk) for gvk in kinds_of({"metadata": {"annotations": annotations}, "spec": spec})]
    ['example.io/v1, Kind=Mill', 'example.io/v1beta1, Kind=Mill']
    """
    own, text = gvk_of(karta), edit.get(karta, OTHER_VERSIONS)
    if own is None:
        return ()
    others = names_in(text) if isinstance(text, str) else ()
    return tuple(dict.fromkeys((own, *(own._replace(version=version) for version in others))))


def in_version(karta: Object, version: str) -> Object:
    """Return the Karta that describes only this version of its kind."""
    own = gvk_of(karta)
    if own is None or own.version == version:
        return karta
    moved = {**edit.remove(karta, OTHER_VERSIONS), "spec": _moved(karta.get("spec"), own, version)}
    text = edit.get(moved, _DEPENDENCIES)
    if not isinstance(text, str):
        return moved
    # In YAML or JSON, with or without quotes.
    own_version = rf"""(apiVersion["']?:\s*["']?){re.escape(own.api_version)}(?![\w./-])"""
    other_version = rf"\g<1>{own._replace(version=version).api_version}"
    return edit.set_value(moved, _DEPENDENCIES, re.sub(own_version, other_version, text))


def _moved(value: JSON, own: GVK, version: str) -> JSON:
    """Return a part of a Karta with another version in the kinds of its own group and version."""
    if isinstance(value, list):
        return [_moved(item, own, version) for item in value]
    if not isinstance(value, dict):
        return value
    if "kind" in value and (value.get("group"), value.get("version")) == (own.group, own.version):
        return {**value, "version": version}
    return {key: _moved(item, own, version) for key, item in value.items()}
