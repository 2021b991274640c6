"""The record of the kinds that a GitOps tool judges itself, held to the sources of the tool and to the tool."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from karta_interpreter.export.gitops import ARGO_CD, FLUX, Tool
from tests.catalogue.entries import entries

_GO_CASE = re.compile(r'\tcase "([^"]*)":|(?:\t\tcase |gvk\.Kind == )(?:kube\.(\w+)Kind|"(\w+)")')
_LEGACY_TYPE = re.compile(r'^\t"(?:([\w.]+)/)?(\w+)": +\w+,$', re.MULTILINE)

Kinds = set[tuple[str, str]]


def compare(program: Path, argocd: tuple[str, Path], engine: Path, kstatus: tuple[str, Path]) -> Iterator[str]:
    """Yield what is wrong with the record, by the sources of the tools with their versions, and by Argo CD itself."""
    yield from _complaints(ARGO_CD, argocd[0], argocd_kinds(argocd[1], engine))
    yield from _complaints(FLUX, kstatus[0], kstatus_kinds(kstatus[1]))
    gvks = sorted({entry.definition.gvk for entry in entries() if entry.definition})
    bare = "".join(json.dumps({**gvk.type_meta, "metadata": {"name": "x"}}) + "\n" for gvk in gvks)
    done = subprocess.run([program], input=bare, capture_output=True, text=True, check=True)
    for gvk, line in zip(gvks, done.stdout.splitlines(), strict=True):
        if bool(json.loads(line)["argocd"]) != ARGO_CD.judges(gvk):
            yield f"{ARGO_CD} itself judges {gvk} otherwise than export/gitops.py has it"


def argocd_kinds(argocd: Path, engine: Path) -> Kinds:
    """Return the kinds for which Argo CD bundles a script, and those that it judges in Go."""
    scripts = (script.parent for script in (argocd / "resource_customizations").glob("*/*/health.lua"))
    found = {(folder.parent.name.replace("_", "*"), folder.name.replace("_", "*")) for folder in scripts}
    _, function = (engine / "pkg" / "health" / "health.go").read_text().split("\nfunc GetHealthCheckFunc(")
    group = ""
    for case, constant, text in _GO_CASE.findall(function):
        if constant or text:
            found.add((group, constant or text))
        else:
            group = case
    return found


def kstatus_kinds(kstatus: Path) -> Kinds:
    """Return the kinds that kstatus has a function for."""
    source = (kstatus / "pkg" / "kstatus" / "status" / "core.go").read_text()
    return set(_LEGACY_TYPE.findall(source))


def _complaints(tool: Tool, version: str, kinds: Kinds) -> Iterator[str]:
    if tool.version.split()[-1] != version.removeprefix("v"):
        yield f"{tool.name}: export/gitops.py is of {tool.version}, and go.mod has {version}"
    recorded = {(group, kind) for group, names in tool.kinds.items() for kind in names.split()}
    for group, kind in sorted(kinds - recorded):
        yield f"{tool.name} {version} judges {group} {kind} itself: add it to export/gitops.py"
    for group, kind in sorted(recorded - kinds):
        yield f"{tool.name} {version} does not judge {group} {kind}: remove it from export/gitops.py"
