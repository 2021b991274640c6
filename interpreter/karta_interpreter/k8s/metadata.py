"""The parts of an object's metadata that matter here, with wrong types tolerated.

>>> label({"metadata": {"labels": {"app": "web"}}}, "app")
'web'
>>> namespace({"metadata": None})
''
"""

from karta_interpreter.k8s.values import Object


def namespace(obj: Object) -> str:
    """Return the object's namespace, ``""`` when it has none."""
    value = _section(obj, "metadata").get("namespace")
    return value if isinstance(value, str) else ""


def generation(obj: Object) -> int | None:
    """Return ``metadata.generation``, None when it is absent or no number."""
    value = _section(obj, "metadata").get("generation")
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def label(obj: Object, name: str) -> str | None:
    """Return the value of a label."""
    value = _section(_section(obj, "metadata"), "labels").get(name)
    return value if isinstance(value, str) else None


def annotation(obj: Object, name: str) -> str | None:
    """Return the value of an annotation."""
    value = _section(_section(obj, "metadata"), "annotations").get(name)
    return value if isinstance(value, str) else None


def _section(obj: Object, name: str) -> Object:
    value = obj.get(name)
    return value if isinstance(value, dict) else {}
