"""The modules of the controllers of the catalogue's kinds, their CRDs, and the kinds whose CRD cannot be had.

All are in docs/upstreams.yaml, or in the facts of a kind.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import yaml

from docs.tools.upstreams import Upstream, upstreams, written_from
from karta_interpreter.base.k8s.values import Object
from tests.catalogue.entries import entries
from tests.proofs.conformance.toolchain import cache_folder
from tests.proofs.rig.toolchain import module_folder


def _source(upstream: Upstream) -> Path:
    return module_folder(upstream.module, upstream.conformance)


def reasons_without_crd() -> Mapping[str, str]:
    """Return why a kind is not checked, unless the caller has its CRD, by its API version and kind."""
    reasons = {}
    for definition in (entry.definition for entry in entries() if entry.definition):
        project, release = next(written_from(definition))
        if reason := upstreams()[project].reason_without_crd(release):
            reasons[f"{definition.gvk.api_version} {definition.gvk.kind}"] = reason
    return reasons


BUILT_IN: Final = ("apps/", "batch/v1 ", "v1 ")
"""How the names of the kinds begin that have no CRD."""


def folders() -> list[Path]:
    """Return the sources of all modules; raises BuildError when one cannot be had."""
    read = [upstream for upstream in upstreams().values() if upstream.conformance]
    return list(dict.fromkeys(map(_source, read)))


def files() -> Iterator[Path]:
    """Yield the files of CRDs; raises BuildError when a module cannot be had."""
    for upstream in upstreams().values():
        for pattern in upstream.crds if upstream.conformance else ():
            found = sorted(_source(upstream).glob(pattern))
            assert found, f"{upstream.module} has no {pattern}"
            yield from found if pattern.endswith(".yaml") else map(_written, kubevirt_crds(found[0].read_text()))


def kubevirt_crds(text: str) -> Iterator[Object]:
    """Yield the CRDs that KubeVirt's operator makes of schemas in its source, a file of Go with each as a text."""
    for kind in ("VirtualMachine", "VirtualMachineInstance", "VirtualMachineInstanceReplicaSet"):
        _, _, rest = text.partition(f'"{kind.lower()}": `')
        schema = yaml.load(rest.partition("`")[0], yaml.CSafeLoader)
        assert schema, f"KubeVirt has no schema of {kind}"
        version = {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": schema}
        names = {"kind": kind, "plural": f"{kind.lower()}s"}
        spec = {"group": "kubevirt.io", "names": names, "scope": "Namespaced", "versions": [version]}
        crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
        yield {**crd, "metadata": {"name": f"{names['plural']}.kubevirt.io"}}


def _written(crd: Object) -> Path:
    file = cache_folder() / f"{crd['metadata']['name']}.yaml"
    file.write_text(yaml.dump(crd, Dumper=yaml.CSafeDumper))
    return file
