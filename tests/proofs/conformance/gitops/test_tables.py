from pathlib import Path

from tests.proofs.conformance.gitops.built_in import judged_kinds

_ENGINE = """
func GetHealthCheckFunc(gvk schema.GroupVersionKind) func(obj *unstructured.Unstructured) (*HealthStatus, error) {
\tswitch gvk.Group {
\tcase "apps":
\t\tswitch gvk.Kind {
\t\tcase kube.DeploymentKind:
\t\t\treturn getDeploymentHealth
\t\t}
\tcase "argoproj.io":
\t\tif gvk.Kind == "Workflow" {
\t\t\treturn getArgoWorkflowHealth
\t\t}
\tcase "":
\t\tswitch gvk.Kind {
\t\tcase kube.PodKind:
\t\t\treturn getPodHealth
\t\t}
\t}
\treturn nil
}
"""


def test_kinds_of_argocd_are_those_of_its_scripts_and_of_its_engine(tmp_path: Path) -> None:
    for kind in ("apps.kruise.io/CloneSet", "_.crossplane.io/_"):
        (tmp_path / "resource_customizations" / kind).mkdir(parents=True)
        (tmp_path / "resource_customizations" / kind / "health.lua").touch()
    (tmp_path / "resource_customizations" / "apps" / "ReplicaSet" / "actions").mkdir(parents=True)
    (tmp_path / "pkg" / "health").mkdir(parents=True)
    (tmp_path / "pkg" / "health" / "health.go").write_text(_ENGINE)

    assert judged_kinds(tmp_path, tmp_path) == {
        ("apps.kruise.io", "CloneSet"),
        ("*.crossplane.io", "*"),
        ("apps", "Deployment"),
        ("argoproj.io", "Workflow"),
        ("", "Pod"),
    }
