"""The objects installed on karmada-apiserver fit the server, and give it no more rights than it needs."""

from typing import Any

import pytest
import yaml

from deploy.write_kustomize import template
from karta_interpreter.webhook.registration.configuration import NAME
from tests.deploy import rendered
from tests.deploy.rendered import Resource

AUTHORITY_IS_FILLED_IN = {
    "the control plane with admission",
    "the control plane with admission by URL",
    "the control plane with another API group",
}
TYPES_API = (
    "the control plane with the workload types API",
    "the control plane with another API group",
    "the control plane with tokens of the workload types API",
)
CONTROL_PLANES = [case for case, (chart, *_) in rendered.VALUES.items() if chart == rendered.CONTROL_PLANE]


def rules_of(case: str, *, of_types: bool) -> list[Resource]:
    """The rules of the server, or of the workload types API."""
    roles = [role for kind in ("ClusterRole", "Role") for role in rendered.of_kind(rendered.of(case), kind)]
    return [rule for role in roles if is_of_types(role) is of_types for rule in role["rules"]]


def is_of_types(resource: Resource) -> bool:
    return str(resource["metadata"]["name"]).endswith(rendered.TYPES_API)


@rendered.needs_helm
@pytest.mark.parametrize("case", CONTROL_PLANES)
def test_permissions_are_the_least(case: str) -> None:
    resources, rules = rendered.of(case), rules_of(case, of_types=False)
    writing = {
        (resource, verb): rule.get("resourceNames", [])
        for rule in rules
        for resource in rule["resources"]
        for verb in rule["verbs"]
        if verb not in {"get", "list", "watch"}
    }
    configurations = "resourceinterpreterwebhookconfigurations"
    admission = ("validatingwebhookconfigurations",)
    filled_in = admission if case in AUTHORITY_IS_FILLED_IN else ()
    assert writing == {
        **{(resource, "patch"): ["karta-interpreter"] for resource in filled_in},
        ("kartas/status", "patch"): [],
        (configurations, "create"): ["karta-interpreter"],
        (configurations, "patch"): ["karta-interpreter"],
        (configurations, "delete"): ["karta-interpreter"],
    }
    # Collections are listed and watched (`Informer`). Only these are asked for by their names.
    reading = {
        (resource, *rule.get("resourceNames", []))
        for rule in rules
        for resource in rule["resources"]
        if "get" in rule["verbs"]
    }
    named = {(resource, "karta-interpreter") for resource in admission}
    doctor = {("services",)} if any("services" in rule["resources"] for rule in rules) else set()
    assert reading == named | doctor
    assert not any("*" in rule[field] for rule in rules for field in ("apiGroups", "resources", "verbs"))
    assert not any("secrets" in rule["resources"] for rule in rules)
    roles = {
        (role["kind"], role["metadata"]["name"])
        for kind in ("ClusterRole", "Role")
        for role in rendered.of_kind(resources, kind)
    }
    bindings = rendered.of_kind(resources, "ClusterRoleBinding") + rendered.of_kind(resources, "RoleBinding")
    assert {(one["roleRef"]["kind"], one["roleRef"]["name"]) for one in bindings} == roles
    assert len({yaml.safe_dump(one["subjects"]) for one in bindings if not is_of_types(one)}) == 1


@rendered.needs_helm
@pytest.mark.parametrize("case", CONTROL_PLANES)
def test_server_reads_claims_only_if_they_are_to_count(case: str) -> None:
    rights = {
        (*rule["apiGroups"], resource, *rule["verbs"])
        for rule in rules_of(case, of_types=False)
        for resource in rule["resources"]
        if resource in {"deviceclasses", "resourceclaimtemplates"}
    }
    resources = ("deviceclasses", "resourceclaimtemplates") if case == "the control plane for somebody else" else ()
    assert rights == {("resource.k8s.io", resource, "list", "watch") for resource in resources}


@rendered.needs_helm
@pytest.mark.parametrize("case", CONTROL_PLANES)
def test_types_api_has_its_own_permissions(case: str) -> None:
    rights = [
        (*rule["apiGroups"], resource, *rule["verbs"])
        for rule in rules_of(case, of_types=True)
        for resource in rule["resources"]
    ]
    group = "workloads.example.com" if "API group" in case else "run.ai"
    kartas = [(group, "kartas", "get", "list", "watch", "create", "update", "delete")]
    reviews = [
        ("authentication.k8s.io", "tokenreviews", "create"),
        ("authorization.k8s.io", "subjectaccessreviews", "create"),
    ]
    assert rights == kartas * (case in TYPES_API) + reviews * (case in TYPES_API[:2])


@rendered.needs_helm
@pytest.mark.parametrize("case", TYPES_API)
def test_server_and_types_api_are_two_accounts(case: str) -> None:
    made = rendered.of_kind(rendered.of(case), "ServiceAccount")
    accounts = [(is_of_types(one), one["metadata"]["name"], one["metadata"]["namespace"]) for one in made]
    assert [of_types for of_types, *_ in accounts] == [False, True]
    bound = {
        (is_of_types(one), subject["name"], subject["namespace"])
        for one in rendered.of_kind(rendered.of(case), "ClusterRoleBinding")
        for subject in one["subjects"]
    }
    assert bound == {*accounts}


@rendered.needs_helm
@pytest.mark.parametrize("of_types", [False, True])
def test_subjects_replace_an_account(of_types: bool) -> None:
    section = "typesApi" if of_types else "user"
    values = f"typesApi.enabled=true,{section}.subjects[0].kind=User,{section}.subjects[0].name=ada"
    made = template(rendered.CONTROL_PLANE, values + (",user.createServiceAccount=false" if not of_types else ""))
    assert [is_of_types(one) for one in rendered.of_kind(made, "ServiceAccount")] == [not of_types]
    bindings = rendered.of_kind(made, "ClusterRoleBinding")
    subjects = {(is_of_types(one), subject["kind"]) for one in bindings for subject in one["subjects"]}
    assert subjects == {(of_types, "User"), (not of_types, "ServiceAccount")}


@rendered.needs_helm
@pytest.mark.parametrize("case", CONTROL_PLANES)
def test_no_token_is_made_that_never_ends(case: str) -> None:
    assert rendered.of_kind(rendered.of(case), "Secret") == []


@rendered.needs_helm
def test_another_api_group_is_that_of_crd_permissions_and_admission() -> None:
    resources = rendered.of("the control plane with another API group")
    crd = rendered.the(resources, "CustomResourceDefinition")
    rules = [rule for each in resources for hook in each.get("webhooks", ()) for rule in hook["rules"]]
    rules += [rule for role in rendered.of_kind(resources, "ClusterRole") for rule in role["rules"]]
    groups = {tuple(rule["apiGroups"]) for rule in rules if rule["resources"][0].startswith("kartas")}
    container = rendered.container_of(rendered.of("every option of the server"))
    group = "workloads.example.com"

    assert (crd["metadata"]["name"], crd["spec"]["group"], groups) == (f"kartas.{group}", group, {(group,)})
    assert {"name": "KARTA_INTERPRETER_KARTA_API_GROUP", "value": group} in container["env"]


@rendered.needs_helm
def test_service_of_control_plane_is_the_registered_one() -> None:
    known = rendered.the(rendered.of("the control plane"), "Service")
    host = rendered.the(rendered.of("the defaults"), "Service")
    metadata, spec = known["metadata"], known["spec"]
    registered = f"{metadata['namespace']}/{metadata['name']}:{spec['ports'][0]['port']}"
    assert ("--service", registered) in rendered.arguments(rendered.of("the defaults"))
    own = host["metadata"]
    assert spec["externalName"] == f"{own['name']}.{own['namespace']}.svc.cluster.local"
    assert [port["port"] for port in host["spec"]["ports"]] == [port["port"] for port in spec["ports"]]


@rendered.needs_helm
@pytest.mark.parametrize(
    ("case", "address"),
    [
        (
            "the control plane with admission",
            {"service": {"namespace": "karmada-system", "name": "karta-interpreter", "port": 443}},
        ),
        ("the control plane with admission by URL", {"url": "https://karta.example.com"}),
    ],
)
def test_admission_calls_the_server(case: str, address: dict[str, Any]) -> None:
    configuration, path = rendered.the(rendered.of(case), "ValidatingWebhookConfiguration"), "/admission/validate"
    (webhook,) = configuration["webhooks"]
    if "url" in address:
        assert webhook["clientConfig"] == {"url": address["url"] + path}
    else:
        assert webhook["clientConfig"] == {"service": {**address["service"], "path": path}}
    asked = [(rule["apiGroups"], rule["resources"], rule["operations"]) for rule in webhook["rules"]]
    assert asked == [(["run.ai"], ["kartas"], ["CREATE", "UPDATE"])]
    assert webhook["sideEffects"] == "None"
    assert webhook["failurePolicy"] == "Fail"


@rendered.needs_helm
def test_given_authority_is_that_of_the_webhook() -> None:
    resources = rendered.of("the control plane with admission and its authority")
    webhooks = [webhook for each in resources for webhook in each.get("webhooks", ())]
    assert [webhook["clientConfig"]["caBundle"] for webhook in webhooks] == ["LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="]


@rendered.needs_helm
def test_server_looks_for_installed_configurations() -> None:
    """It knows them by the name of its registration."""
    resources = rendered.of("the control plane with admission")
    names = {each["metadata"]["name"] for each in resources if each.get("webhooks")}
    registered = dict(rendered.arguments(rendered.of("the defaults"))).get("--registration-name", NAME)
    assert names == {registered}
