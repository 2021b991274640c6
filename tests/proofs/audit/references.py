"""Objects that definitions refer to: many, large, and many that are deleted at once."""

import asyncio
import json
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from tests.proofs.audit.attack import Attack, Target
from tests.proofs.audit.definitions import GROUP, definition, files
from tests.proofs.audit.found import Found
from tests.proofs.audit.objects import body
from tests.proofs.audit.plane import NAMESPACE, Collection
from tests.webhook.process.client import post

_CLIENTS, _MB = 2, 1_000_000
_KARTAS: Final = "/apis/run.ai/v1alpha1/kartas"
_SERVING: Final = "serving.kserve.io/v1alpha2"
_CONFIGS = Collection(_SERVING, "LLMInferenceServiceConfig", 60, _MB, ("LLMInferenceService",))
_REVISIONS = Collection("apps/v1", "ControllerRevision", 20_000, 2_000)
_ASKING = Collection(f"{GROUP}/v1", "Lister", 0, 0, ("Namer",))
_LARGE = Collection("apps/v1", "Deployment", 3, 1_400_000)
_TASKS = Collection("tekton.dev/v1", "Task", 20_000, 2_000, ("TaskRun",))
_EVERY: Final = {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}
_DELETED, _SETTLING = 1_500, 60.0


def _object(api_version: str, kind: str, spec: dict[str, Any]) -> bytes:
    metadata = {"name": "x", "namespace": NAMESPACE}
    return post(body("InterpretReplica", {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}))


def _kartas(folder: Path) -> tuple[str | Path, ...]:
    """Write Kartas: one lists a kind, one looks an object up by its name. Both give the whole of what they find."""
    ways: dict[str, Any] = {
        "Lister": {"gvk": {"group": "apps", "version": "v1", "kind": "ControllerRevision"}, "list": _EVERY},
        "Namer": {"gvk": {"group": "apps", "version": "v1", "kind": "Deployment"}, "lookup": {"nameExpression": ".n"}},
    }
    for kind, way in ways.items():
        root = {"name": "root", "kind": {"group": GROUP, "version": "v1", "kind": kind}}
        root["specDefinition"] = {
            "podTemplateSpecPath": '$it | if type == "array" then .[-1] else . end | .spec.template'
        }
        root["scaleDefinition"] = {"replicasPath": "1"}
        root["statusDefinition"] = {"phaseDefinition": {"path": ".status.phase"}, "statusMappings": {}}
        structure = {"references": [{"name": "it", **way}], "rootComponent": root}
        karta = {"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {"name": kind.lower()}}
        (folder / f"{kind}.yaml").write_text(json.dumps({**karta, "spec": {"structureDefinition": structure}}))
    return "--kartas", folder


async def _ask(target: Target, *calls: bytes) -> Found:
    await target.flood(cycle(calls), _CLIENTS, target.effort.seconds)
    return target.found(unanswered=float(not target.answers["answered"]))


async def _configs(target: Target) -> Found:
    """Ask what LLMInferenceServices need, whose namespace has configs that are large."""
    await _watched(target, _CONFIGS)
    template = {"containers": [{"name": "main"}]}
    return await _ask(target, _object(_SERVING, "LLMInferenceService", {"replicas": 2, "template": template}))


async def _lists(target: Target) -> Found:
    """Ask about kinds whose Kartas list thousands of objects, and look up a large one."""
    await _watched(target, _REVISIONS, _LARGE)
    named = _object(f"{GROUP}/v1", "Namer", {}).replace(b'"spec":{}', b'"n":"o1","spec":{}')
    named = post(named.partition(b"\r\n\r\n")[2])
    return await _ask(target, _object(f"{GROUP}/v1", "Lister", {}), named)


async def _deleted(target: Target) -> Found:
    """Have many of very many objects deleted at once, and ask about what refers to them meanwhile."""
    await _watched(target, _TASKS)
    assert target.plane
    deleting = asyncio.create_task(target.plane.delete(_TASKS.path, _DELETED))
    found = await _ask(target, _object("tekton.dev/v1", "TaskRun", {"taskRef": {"name": "o19999"}}))
    await deleting
    return found


async def _kartas_come(target: Target) -> Found:
    """Have hostile Kartas created, and one with very many lines of comment."""
    assert target.plane
    await target.plane.was_watched(_KARTAS)
    texts = [text for name, text in files() if name.startswith(("expression", "chain", "children", "circle", "long"))]
    texts.append(json.dumps(definition(len(texts), ".spec.min" + "\n#.max" * 9000)))
    kartas = []
    for number, text in enumerate(texts):
        karta = json.loads(text)
        karta["metadata"] |= {"name": f"hostile-{number}", "resourceVersion": str(2000 + number)}
        kartas.append(json.dumps(karta).encode())
    await target.plane.create(_KARTAS, kartas)
    await asyncio.sleep(4 * target.effort.seconds)
    target.answers["created"] += len(kartas)
    return target.found()


async def _watched(target: Target, *collections: Collection) -> None:
    assert target.plane
    async with asyncio.timeout(_SETTLING):
        await target.plane.was_watched(*(collection.path for collection in collections))


KARTAS = Attack(_kartas_come, collections=(_ASKING,))
CONFIGS = Attack(_configs, collections=(_CONFIGS,))
LISTS = Attack(_lists, _kartas, collections=(_ASKING, _REVISIONS, _LARGE), contained=False)
DELETED = Attack(_deleted, collections=(_TASKS,), contained=False)
