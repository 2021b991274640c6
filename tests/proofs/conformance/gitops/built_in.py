"""The record of the kinds that Argo CD judges itself, held to the sources of Argo CD and to its own verdicts."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from karta_interpreter.export import argocd_kinds
from tests.catalogue.entries import entries

_GO_CASE = re.compile(r'\tcase "([^"]*)":|(?:\t\tcase |gvk\.Kind == )(?:kube\.(\w+)Kind|"(\w+)")')


def compare(program: Path, argocd: tuple[str, Path], engine: Path) -> Iterator[str]:
    """Yield what is wrong with the record, by the sources of Argo CD with their version, and by Argo CD itself."""
    version, source = argocd
    if version != f"v{argocd_kinds.VERSION}":
        yield f"export/argocd_kinds.py is of {argocd_kinds.VERSION}, and go.mod has {version}"
    judged = judged_kinds(source, engine)
    recorded = {(group, kind) for group, names in argocd_kinds.KINDS.items() for kind in names.split()}
    for group, kind in sorted(judged - recorded):
        yield f"Argo CD {version} judges {group} {kind} itself: add it to export/argocd_kinds.py"
    for group, kind in sorted(recorded - judged):
        yield f"Argo CD {version} does not judge {group} {kind}: remove it from export/argocd_kinds.py"
    gvks = sorted({entry.definition.gvk for entry in entries() if entry.definition})
    bare = "".join(json.dumps({**gvk.type_meta, "metadata": {"name": "x"}}) + "\n" for gvk in gvks)
    done = subprocess.run([program], input=bare, capture_output=True, text=True, check=True)
    for gvk, line in zip(gvks, done.stdout.splitlines(), strict=True):
        if bool(json.loads(line)["argocd"]) != argocd_kinds.judges(gvk):
            yield f"Argo CD {version} itself judges {gvk} otherwise than export/argocd_kinds.py has it"


def judged_kinds(argocd: Path, engine: Path) -> set[tuple[str, str]]:
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
