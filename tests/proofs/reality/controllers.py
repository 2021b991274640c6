"""The controllers that the experiment knows: those of ``controllers.yaml``."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tests.proofs.reality import components, operators, starting
from tests.proofs.reality.controller import Controller, Kind, labelled
from tests.proofs.reality.programs import FILE, SHARED, Program, programs_of
from tests.proofs.reality.queueing import WORKLOADS
from tests.proofs.rig.api import Object
from tests.proofs.rig.cluster import Cluster

_NOT_QUEUED = {"CronJob", "DaemonSet", "ReplicaSet"}


def shares_module(controller: Controller) -> bool:
    """Whether its programs are built with the libraries of the API server."""
    return all(program.group in SHARED for program in controller.programs)


def can_be_built(controller: Controller) -> bool:
    """Whether each of its programs is a public module, or its source tree is in the folder of FROM."""
    return all(program.exists for program in controller.programs)


def is_from_source(controller: Controller) -> bool:
    return any(program.repository for program in controller.programs)


def _read() -> Sequence[Controller]:
    found: dict[str, Controller] = {}
    for entry in yaml.safe_load(FILE.read_text(encoding="utf-8")):
        found[entry["name"]] = _controller(entry, [found[name] for name in entry.get("in-front-of", ())])
    return tuple(found.values())


def _controller(entry: Object, behind: Sequence[Controller]) -> Controller:
    name: str = entry["name"]
    programs = programs_of(entry)
    where = operators if any(program.repository for program in programs) else starting
    start = getattr(where, entry.get("start", name).replace("-", "_"))
    queued = [kind for other in behind for kind in other.kinds if kind.name not in _NOT_QUEUED]
    return Controller(
        name,
        kinds=(
            *map(_kind, entry.get("kinds", ())),
            *(replace(kind, children=(*kind.children, WORKLOADS)) for kind in queued),
        ),
        start=partial(_start, start, programs),
        programs=programs,
        needs=(*entry.get("needs", ()), *(other.name for other in behind)),
        ports=tuple({*entry.get("ports", ()), *(port for other in behind for port in other.ports)}),
        alone=bool(behind) or entry.get("alone", False),
    )


def _kind(entry: Object) -> Kind:
    fields: dict[str, Any] = {name.replace("-", "_"): value for name, value in entry.items()}
    for name in fields.keys() & {"component", "ends", "prepares"}:
        fields[name] = getattr(components, fields[name])
    if "label" in fields:
        fields["component"] = labelled(fields.pop("label"))
    return Kind(**fields | {"children": tuple(fields.get("children", ()))})


def _start(start: Callable[[Cluster, Path], None], programs: Sequence[Program], cluster: Cluster) -> None:
    start(cluster, programs[0].source() if programs else Path())


CONTROLLERS = _read()


def controller_of(name: str) -> Controller:
    return next(controller for controller in CONTROLLERS if controller.name == name)
