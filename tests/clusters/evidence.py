"""Evidence about workloads of the catalogue, also about some that are nested deeply."""

from pathlib import Path
from typing import Any

import orjson

from karta_interpreter import Karta
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.verification import Evidence
from tests.engine.verification.member import NOW, container, workload


def deep(levels: int) -> Any:
    inner: Any = 1
    for _ in range(levels):
        inner = {"a": inner}
    return inner


def defined(*shown: Evidence) -> list[tuple[Definition, Evidence]]:
    """Return evidence with the definitions of the catalogue."""
    kinds = ({name: evidence.object[name] for name in ("apiVersion", "kind")} for evidence in shown)
    return [(Karta.for_object(kind).definition, evidence) for kind, evidence in zip(kinds, shown, strict=True)]


def deployments(*levels: int) -> list[Evidence]:
    """Return a Deployment for each number of objects in one another."""
    spec = {"replicas": 0, "template": {"spec": {"containers": [container()]}}}
    objects = [workload("apps/v1", "Deployment", spec, {"in": deep(each)}, name=f"d{each}") for each in levels]
    return [Evidence(obj, (), now=NOW) for obj in objects]


def written_by_version_0_1(folder: Path) -> None:
    """Take the digests out of a saved folder. Its files may be changed then."""
    path = folder / "member.json"
    about = orjson.loads(path.read_bytes())
    path.write_bytes(orjson.dumps({name: about[name] for name in about if name not in ("digest", "workloads")}))
