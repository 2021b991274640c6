"""The ClusterRole of ``verify``."""

from pathlib import Path

import yaml

from karta_interpreter import Karta
from karta_interpreter.definitions.sources.files import load_catalogue
from tests.support.plurals import plural

_FILE = Path(__file__).parents[2] / "deploy" / "member" / "clusterrole-verify.yaml"
_RULES = yaml.safe_load(_FILE.read_text(encoding="utf-8"))["rules"]


def test_verify_role_lists_each_group_of_the_catalogue() -> None:
    groups = {group for rule in _RULES if rule["resources"] == ["*"] for group in rule["apiGroups"]}

    assert {gvk.group for gvk in Karta.catalogue()} - {""} == groups


def test_verify_role_lists_what_definitions_look_up() -> None:
    listed = {(group, resource) for rule in _RULES for group in rule["apiGroups"] for resource in rule["resources"]}
    looked_up = {reference.gvk for entry in load_catalogue().entries for reference in entry.definition.references}
    names = {(gvk.group, plural(gvk.kind)) for gvk in looked_up}

    assert {name for name in names if (name[0], "*") not in listed} <= listed


def test_verify_role_reads_and_reads_no_secrets() -> None:
    assert {verb for rule in _RULES for verb in rule["verbs"]} == {"list", "get"}
    core = [rule for rule in _RULES if "" in rule["apiGroups"]]
    assert not {"*", "secrets"} & {resource for rule in core for resource in rule["resources"]}
