"""Names the owner of a Karta that is not stored by this API."""

from collections.abc import Iterator, Mapping
from typing import Final

from karta_interpreter.k8s import edit
from karta_interpreter.k8s.values import JSON, Object

_TRACKING: Final = "argocd.argoproj.io/tracking-id"
_INSTANCE: Final = "argocd.argoproj.io/instance"
_FLUX: Final = {"Kustomization": "kustomize.toolkit.fluxcd.io", "HelmRelease": "helm.toolkit.fluxcd.io"}
_HELM: Final = "meta.helm.sh/release-name"
_HELM_NAMESPACE: Final = "meta.helm.sh/release-namespace"
_MANAGED_BY: Final = "app.kubernetes.io/managed-by"


def controller_of(obj: Object) -> str | None:
    """The tool or object that reverts changes of an object by others, None where nothing names one."""
    return next(_controllers(obj), None)


def writer_of(obj: Object) -> str:
    """The owner of a Karta that this API has not stored: a tool, or else the last field manager of its spec."""
    return controller_of(obj) or _last_manager(obj) or "another client of the API server"


def _controllers(obj: Object) -> Iterator[str]:
    labels, annotations = (_texts(obj, field) for field in ("labels", "annotations"))
    if application := annotations.get(_TRACKING, "").partition(":")[0] or labels.get(_INSTANCE):
        yield f"the Argo CD application {application}"
    for kind, group in _FLUX.items():
        if name := labels.get(f"{group}/name"):
            yield f"the Flux {kind} {_full(labels.get(f'{group}/namespace'), name)}"
    if release := annotations.get(_HELM):
        yield f"the Helm release {_full(annotations.get(_HELM_NAMESPACE), release)}"
    references = edit.get(obj, ("metadata", "ownerReferences"))
    for each in references if isinstance(references, list) else ():
        yield f"the {edit.get(each, ('kind',))} {edit.get(each, ('name',))}"
    if tool := labels.get(_MANAGED_BY):
        yield tool


def _last_manager(obj: Object) -> str | None:
    """The field manager that wrote the spec, or a part of it, last."""
    entries = edit.get(obj, ("metadata", "managedFields"))
    writers = [
        (str(entry.get("time", "")), str(entry.get("manager", "")))
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and edit.get(entry, ("fieldsV1", "f:spec")) is not None
    ]
    return max(writers)[1] or None if writers else None


def _texts(obj: Object, field: str) -> Mapping[str, str]:
    found: JSON = edit.get(obj, ("metadata", field))
    values = found if isinstance(found, dict) else {}
    return {name: text for name, text in values.items() if isinstance(text, str)}


def _full(namespace: str | None, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name
