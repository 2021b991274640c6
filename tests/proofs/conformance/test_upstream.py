"""Which files of a checkout of Workload-Map are read as definitions."""

from pathlib import Path

from karta_interpreter.definitions.karta import example_files
from tests.proofs.conformance.upstream import load_all


def test_definitions_of_a_checkout_are_loaded_and_errors_reported(tmp_path: Path) -> None:
    good = example_files()["karta.yaml"]
    for path, text in {
        "docs/catalog/good.yaml": good,
        "docs/catalog/other-group.yaml": good.replace("run.ai/", "workloads.example.com/"),
        "docs/catalog/broken.yaml": good.replace("rootComponent:", "rootComponents:"),
        "docs/samples/workload.yaml": "kind: Job\n",
        "test/broken.yaml": good.replace("spec:", "specs:"),
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    found = load_all(tmp_path)

    assert found.definitions == 3
    assert found.problems
    assert all("broken.yaml" in problem for problem in found.problems)


def test_checkout_without_definitions_is_a_problem(tmp_path: Path) -> None:
    assert load_all(tmp_path).problems == (f"{tmp_path / 'docs'} has no definitions",)
