"""Karmada's own command line takes what `export customization` writes, and prints what our command prints."""

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from karta_interpreter.base.k8s import GVK
from karta_interpreter.cli.interpret import command
from karta_interpreter.definitions.karta import catalogue_kinds
from karta_interpreter.definitions.sources.files import load_catalogue
from tests.proofs.e2e.flow import say
from tests.proofs.rig.api import Object
from tests.proofs.rig.binaries import build_some
from tests.proofs.rig.interpreter import run
from tests.proofs.rig.toolchain import BuildError

_FILES = {"desiredObj": "--desired-file", "observedObj": "--observed-file"}
_FIELDS = {
    "InterpretReplica": "replicaResource",
    "InterpretComponent": "componentResource",
    "ReviseReplica": "replicaRevision",
    "Retain": "retention",
    "AggregateStatus": "statusAggregation",
    "InterpretStatus": "statusReflection",
    "InterpretHealth": "healthInterpretation",
    "InterpretDependency": "dependencyInterpretation",
}
_NULL = "Lua has no null, so a script cannot hand it on"
_EMPTY = "to Lua an empty object is an empty list as well, and Karmada drops it where it does not know which it was"
_DIFFERENT = {
    ("argoproj-io-workflow-v1alpha1", "InterpretStatus"): _NULL,
    ("batch-job-v1", "InterpretStatus"): _EMPTY,
    ("kubeflow-org-pytorchjob-v1", "InterpretStatus"): _EMPTY,
    ("kubeflow-org-tfjob-v1", "InterpretStatus"): _EMPTY,
    ("ray-io-raycluster-v1", "AggregateStatus"): _EMPTY,  # of its spec; Karmada reads the status alone
    ("sparkoperator-k8s-io-sparkapplication-v1beta2", "InterpretStatus"): _NULL,
}
"""Why an answer differs, by definition and operation: in nothing but nulls, empty objects and empty lists."""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Mapping[Path, Object]:
    """The customizations of the whole catalogue by their files: those without the feature gate, and the components."""
    found: dict[Path, Object] = {}
    for options in ((), ("--multiple-pod-templates", "--operations", "InterpretComponent")):
        folder = tmp_path_factory.mktemp("customizations")
        done = run("export", "customization", "--output-dir", folder, *options)
        assert done.returncode == 0, done.stderr
        found |= {file: yaml.safe_load(file.read_text(encoding="utf-8")) for file in sorted(folder.iterdir())}
    return found


def test_karmadactl_accepts_every_file(exported: Mapping[Path, Object]) -> None:
    assert {customization["metadata"]["name"] for customization in exported.values()} == set(_definitions())
    for file, customization in exported.items():
        printed = _karmadactl("-f", str(file), "--check")
        assert printed.count(" PASS") == len(customization["spec"]["customizations"]), printed


def test_karmadactl_prints_what_interpret_prints(exported: Mapping[Path, Object], tmp_path: Path) -> None:
    different: set[tuple[str, str]] = set()
    asked = 0
    for file, customization in exported.items():
        for operation, case in _cases(customization).items():
            arguments = [f"--operation={operation}", *_arguments(case, tmp_path)]
            theirs = _karmadactl("-f", str(file), *arguments)
            # The same amount: Karmada's library writes it with a suffix.
            ours = (
                CliRunner()
                .invoke(command, arguments)
                .stdout.replace('ephemeral-storage: "50000000"', "ephemeral-storage: 50M")
            )
            asked += 1
            if theirs != ours:
                assert _blocks(theirs) == _blocks(ours), f"{file.stem} {operation}: {case['name']}"
                different.add((file.stem, operation))
    assert different == _DIFFERENT.keys()
    say(f"\n  {asked} questions about {len(_definitions())} kinds: {asked - len(different)} times the same text")


def _definitions() -> list[str]:
    return [entry.definition.object_name for entry in load_catalogue().entries]


def _karmadactl(*arguments: str) -> str:
    try:
        program = build_some(["karmadactl"], say) / "karmadactl"
    except BuildError as error:
        pytest.skip(str(error))
    command_line = [str(program), "interpret", *arguments]
    done = subprocess.run(command_line, capture_output=True, text=True, timeout=60, check=False, env={})
    assert done.returncode == 0, done.stderr
    return done.stdout


def _cases(customization: Object) -> Mapping[str, Object]:
    """The first case with an answer of each exported operation in the suite of the kind."""
    target = customization["spec"]["target"]
    suite = catalogue_kinds()[GVK.of(target)].parent / "testdata"
    found: dict[str, Object] = {}
    for file in sorted(suite.glob("*.yaml")):
        for case in yaml.safe_load_all(file.read_text(encoding="utf-8")):
            obj = case.get("desiredObj") or case["observedObj"]
            is_exported = _FIELDS[case["operation"]] in customization["spec"]["customizations"]
            if obj["apiVersion"] == target["apiVersion"] and is_exported and _is_whole(case):
                found.setdefault(case["operation"], case)
    return found


def _is_whole(case: Object) -> bool:
    """Whether the command line can ask it: it has no way to give an empty list of statuses."""
    return bool(case.get("output") and (case["operation"] != "AggregateStatus" or case.get("statusItems")))


def _arguments(case: Object, folder: Path) -> Iterator[str]:
    if "inputReplicas" in case:
        yield f"--desired-replica={case['inputReplicas']}"
    for name, option in _FILES.items():
        if name in case:
            yield f"{option}={_written(folder / f'{name}.yaml', [case[name]])}"
    if "statusItems" in case:
        yield f"--status-file={_written(folder / 'items.yaml', case['statusItems'])}"


def _written(file: Path, documents: list[Object]) -> Path:
    file.write_text(yaml.safe_dump_all(documents), encoding="utf-8")
    return file


def _blocks(printed: str) -> list[Any]:
    """The printed results with their titles, without nulls and what is empty."""
    titles = [line for line in printed.splitlines() if line.startswith("# [")]
    return [titles, [_without_empty(value) for value in yaml.safe_load_all(printed)]]


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _without_empty(part) for key, part in value.items()}
        return {key: part for key, part in kept.items() if part not in (None, {}, [])}
    if isinstance(value, list):
        return [part for part in map(_without_empty, value) if part not in (None, {}, [])]
    return value
