"""JSON values as YAML and JSON text, in the form of Kubernetes' own tools."""

import json
import re

import yaml

from karta_interpreter.k8s.values import JSON

_TEXT = "tag:yaml.org,2002:str"
_PLAIN = frozenset({_TEXT, "tag:yaml.org,2002:yaml", "tag:yaml.org,2002:value"})
_AMBIGUOUS = re.compile(r"[yYnN]|[-+]?[0-9]+[eE][-+]?[0-9]+|[-+]?0o[0-7]+")
"""Booleans and numbers of the Go library that PyYAML would write without quotes."""


def to_yaml(value: JSON) -> str:
    r"""The value as YAML, written as kubectl and karmadactl write it (``sigs.k8s.io/yaml``).

    Keys are sorted, lists are not indented, text of several lines is a block, and text that would read as
    something else is in double quotes.

    >>> print(to_yaml({"on": ["1", 1, "a\nb\n"]}), end="")
    "on":
    - "1"
    - 1
    - |
      a
      b
    """
    text: str = yaml.dump(value, Dumper=_KubernetesDumper, default_flow_style=False, allow_unicode=True)
    return text.removesuffix("...\n")


def written(value: JSON, form: str) -> str:
    """The value as JSON or YAML, as ``form`` names it on the command line."""
    return to_json(value) if form == "json" else to_yaml(value)


def to_json(value: JSON) -> str:
    """The value as indented JSON, its keys sorted."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


class _KubernetesDumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        """Shared parts are written out: readers of manifests do not expect anchors."""
        del data
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(_TEXT, text, style=_style(dumper, text))


def _style(dumper: yaml.SafeDumper, text: str) -> str | None:
    if "\n" in text:
        return "|"
    # The stubs of PyYAML leave `resolve` without types.
    tag = dumper.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return '"' if _AMBIGUOUS.fullmatch(text) or tag not in _PLAIN else None


_KubernetesDumper.add_representer(str, _represent_text)
