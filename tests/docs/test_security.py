"""Each row of the table of trust in docs/security.md has tests of attacks."""

import re
from importlib import import_module
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "security.md"

CACHE = "tests.definitions.sources.test_reference_cache"
CLAIMS = "tests.engine.evaluation.test_claims"
TRIED = {
    "a workload": [
        f"{CACHE}:test_objects_are_told_apart_by_their_namespaces",
        "tests.webhook.answering.test_sequences:test_calls_in_sequence_get_the_answers_of_whole_objects",
    ],
    "an object that definitions refer to, such as a ServingRuntime": [
        f"{CACHE}:test_names_are_computed_once_for_each_state",
        f"{CACHE}:test_runtime_of_another_namespace_changes_no_answer",
    ],
    "a ResourceClaimTemplate, with `--device-class`": [
        f"{CLAIMS}:test_claims_count_as_amounts",
        f"{CLAIMS}:test_claims_beyond_a_bound_are_an_error",
    ],
    "many objects, large or deep ones, or one with very many names": [
        "tests.definitions.sources.test_shares:test_namespace_has_its_part_whatever_others_do",
        f"{CACHE}:test_namespace_that_has_no_room_leaves_others_alone",
        f"{CACHE}:test_object_that_cannot_be_decoded_is_an_error_in_its_namespace",
        f"{CACHE}:test_object_whose_names_fail_makes_those_of_its_namespace_unknown",
    ],
    "names of other objects in a workload": [
        "tests.catalogue.test_dependency_names:test_dependencies_are_of_the_namespace_of_the_object",
        "tests.catalogue.test_dependency_names:test_exported_script_names_the_same_of_the_namespace",
    ],
    "a cluster-scoped object that definitions refer to": [
        f"{CACHE}:test_cluster_scoped_object_whose_names_fail_makes_all_unknown"
    ],
    "a DeviceClass, with `--device-class`": [f"{CLAIMS}:test_claims_count_as_amounts"],
    "the status and the spec of its object": [
        "tests.webhook.answering.test_sequences:test_calls_in_sequence_get_the_answers_of_whole_objects"
    ],
    "owner references and names of its objects": [
        "tests.cli.test_hostile_paths:test_owner_of_no_listed_kind_is_not_asked",
        "tests.cli.test_hostile_paths:test_secrets_are_never_read",
        "tests.cli.verify.test_hostile_member:test_work_is_linear_in_references",
        "tests.cli.test_hostile_names:test_hostile_name_forges_no_line",
    ],
    "lists, continue tokens and errors of its API server": [
        "tests.definitions.sources.test_endless_lists:test_list_without_end_is_an_error",
        "tests.cli.verify.test_hostile_member:test_any_answer_is_shown_without_traceback",
        "tests.cli.test_hostile_names:test_hostile_api_server_forges_no_line",
    ],
    "a Karta or a script": [
        f"{CACHE}:test_secrets_are_withheld_unless_they_are_allowed",
        "tests.definitions.sources.test_hostile_paths:test_version_of_reference_is_not_a_path",
    ],
    "a file or an archive for a command": [
        "tests.cli.test_hostile_files:test_file_that_is_not_a_manifest_is_refused_by_name",
        "tests.cli.test_hostile_files:test_link_and_name_lead_to_no_file_elsewhere",
        "tests.definitions.sources.test_file_scan:test_only_regular_files_are_read",
    ],
}


def _rows() -> list[str]:
    section = PAGE.read_text(encoding="utf-8").partition("\n## Whose word it is\n")[2].partition("\n## ")[0]
    return [re.split(r"\s*\|\s*", line)[2] for line in section.splitlines() if line.startswith("| ")][1:]


def test_row_of_trust_is_tried() -> None:
    assert _rows() == [*TRIED]
    for tests in TRIED.values():
        for test in tests:
            module, _, name = test.partition(":")
            assert callable(getattr(import_module(module), name)), test
