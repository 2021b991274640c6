"""YAML that readers of Kubernetes read as the value that was written."""

import re
from typing import Any, Final

import yaml

from karta_interpreter.base.k8s.manifest import resolve
from karta_interpreter.base.k8s.values import JSON

WIDTH: Final = 118
"""The longest lines of the catalogue."""
_ANY_WIDTH: Final = 2**31
_TEXT: Final = "tag:yaml.org,2002:str"
_PLAIN: Final = frozenset({_TEXT, "tag:yaml.org,2002:yaml", "tag:yaml.org,2002:value"})
# Line breaks of YAML 1.1 that PyYAML would write as they are, and what GitHub takes for commands in a log.
_BREAKS: Final = re.compile(r"[\x85\u2028\u2029]|##\[|(?:^|\s)::")
_COMMAND: Final = re.compile("^( *)::", re.MULTILINE)


class _SortedDumper(yaml.SafeDumper):
    """Writes shared parts in full, as all three: readers of manifests do not expect anchors."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the signature of PyYAML
        return True


class _IndentingDumper(_SortedDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 - as above
        super().increase_indent(flow, indentless=False)


class _FastDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # PyYAML may lack libyaml
    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - as above
        return True


def to_yaml(value: JSON) -> str:
    r"""Return the value as YAML, written as kubectl and karmadactl write it (``sigs.k8s.io/yaml``).

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
    text = _dumped(value, _SortedDumper, sort_keys=True, default_flow_style=False)
    # A lone value has the end of the document in a line of its own. A text may end in dots, too.
    return text.removesuffix("...\n") if text.endswith("\n...\n") else text


def to_authored_yaml(value: JSON) -> str:
    """Return the value as people write a definition or a suite.

    Keys are in their own order, lists indented below their field.
    """
    return _dumped(value, _IndentingDumper, width=WIDTH)


def to_ordered_yaml(value: JSON) -> str:
    """Return the value with keys in their own order. It uses the C library, which is ten times as fast.

    Lists are not indented.
    """
    return _dumped(value, _FastDumper, width=WIDTH)


def to_yaml_line(value: JSON) -> str:
    """Return the value as YAML in one line, for a message.

    >>> print(to_yaml_line({"kind": "Secret", "name": ".spec.roles[].name"}), to_yaml_line(".nan"))
    {kind: Secret, name: '.spec.roles[].name'} ".nan"
    """
    text = _dumped(value, _IndentingDumper, width=_ANY_WIDTH, default_flow_style=True)
    return text.removesuffix("\n").removesuffix("\n...")


def _dumped(value: JSON, dumper: Any, *, sort_keys: bool = False, **options: Any) -> str:  # noqa: ANN401 - PyYAML's
    text: str = yaml.dump(value, Dumper=dumper, sort_keys=sort_keys, allow_unicode=True, **options)
    # Both are in double quotes, see `_BREAKS`. A long text may go on with them in the next line.
    return _COMMAND.sub(r"\1\\x3A:", text.replace("##[", r"#\x23["))


def _represent_text(dumper: Any, text: str) -> yaml.ScalarNode:  # noqa: ANN401 - two classes without a common base
    tag, style = dumper.resolve(yaml.ScalarNode, text, (True, False)), None
    # PyYAML decides first, and then the Go library, which reads more booleans and numbers.
    if tag not in _PLAIN or resolve(text) is not text or _BREAKS.search(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    node: yaml.ScalarNode = dumper.represent_scalar(_TEXT, text, style=style)
    return node


for _each in (_SortedDumper, _IndentingDumper, _FastDumper):
    _each.add_representer(str, _represent_text)
