"""A type from its registration to its answers, over real HTTP."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.rows import rows
from tests.web.types_api.types_server import TYPES, TypesClient, TypesServer, in_thread, karta, workload, workload_type

DOUBLED: Any = {"scaleDefinition": {"replicasPath": ".spec.stones * 2"}}


def registered(server: TypesClient, *arguments: Any, **changes: Any) -> str:
    answer = server.post(workload_type(*arguments, **changes))
    assert answer.status == 201, answer.json
    return f"{TYPES}/{answer.json['id']}"


def test_registered_type_answers_at_once(server: TypesServer) -> None:
    obj = workload("FirstMill")
    assert server.interpret(obj) is None

    answer = server.post(workload_type("FirstMill"))

    assert (answer.status, server.interpret(obj)) == (201, 3)
    found = answer.json
    assert answer.headers["location"] == f"{TYPES}/{found['id']}"
    assert (found["categoryName"], found["priorityName"]) == ("Train", "medium")
    assert (found["source"], found["owner"], found["versions"], found["findings"]) == ("api", None, ["v1"], [])
    assert server.get(answer.headers["location"]).json == found


@rows("kind", ["postgresql", "oven-v2", "iOSBuild"])
def test_kind_is_a_label_in_any_case(server: TypesServer, kind: str) -> None:
    registered(server, kind)
    assert server.interpret(workload(kind)) == 3


@rows("kind", ["2Mill", "-mill", "mill-", "my_mill", "m" * 64])
def test_kind_that_no_api_server_has_is_refused(server: TypesServer, kind: str) -> None:
    assert server.post(workload_type(kind)).status == 422


def test_type_that_only_karta_refuses_is_registered_with_warnings(server: TypesServer) -> None:
    answer = server.post(workload_type("BareMill", karta("BareMill", statusDefinition=None)))

    assert answer.status == 201, answer.json
    assert [(each["rule"], each["severity"]) for each in answer.json["findings"]] == [
        ("root-without-status", "warning")
    ]
    assert server.interpret(workload("BareMill")) == 3


def test_type_can_have_a_karta_for_each_version(server: TypesServer) -> None:
    old = {**karta("TwoMill", version="v1beta1", **DOUBLED), "apiVersion": "optimization.nvidia.com/v1alpha1"}
    bare = {"spec": karta("TwoMill")["spec"]}
    path = registered(server, "TwoMill", bare, old | {"kind": "ResourceInterface"})

    found = server.get(path).json
    assert found["versions"] == ["v1", "v1beta1"]
    assert {each["kind"] for each in found["resourceInterfaces"]} == {"Karta"}
    assert [each["metadata"]["name"] for each in found["resourceInterfaces"]] == [
        "twomill-v1.mill.example.org",
        "twomill-v1beta1.mill.example.org",
    ]
    assert [server.interpret(workload("TwoMill", version=each)) for each in found["versions"]] == [3, 6]


def test_one_karta_can_be_for_several_versions(server: TypesServer) -> None:
    both = karta("OldMill")
    both["metadata"] = {"annotations": {"karta-interpreter.io/other-versions": "v1beta1"}}
    path = registered(server, "OldMill", both)

    found = server.get(path)
    assert found.json["versions"] == ["v1", "v1beta1"]
    assert [each["metadata"]["name"] for each in found.json["resourceInterfaces"]] == ["oldmill-v1.mill.example.org"]
    assert [server.interpret(workload("OldMill", version=each)) for each in found.json["versions"]] == [3, 3]
    again = server.ask("PUT", path, workload_type("OldMill", *found.json["resourceInterfaces"]))
    assert (again.status, again.headers["etag"]) == (200, found.headers["etag"])
    errors = server.post(workload_type("OldMill", both, karta("OldMill", version="v1beta1")), f"{TYPES}:validate").json
    assert [error["rule"] for error in errors["errors"]] == ["duplicate-kind"]


def test_same_registration_changes_nothing(server: TypesServer) -> None:
    first = server.post(workload_type("SameMill"))
    again = server.post(workload_type("SameMill"))
    assert (first.status, again.status) == (201, 200)
    assert (again.json, again.headers["etag"]) == (first.json, first.headers["etag"])

    other = server.post(workload_type("SameMill", priorityId="high"))
    assert other.status == 409
    assert server.get(first.headers["location"]).json == first.json


def test_replacing_changes_the_answers(server: TypesServer) -> None:
    path = registered(server, "PutMill")
    wanted = workload_type("PutMill", karta("PutMill", **DOUBLED), categoryId="build")

    answer = server.ask("PUT", path, wanted)

    assert (answer.status, answer.json["categoryId"]) == (200, "build")
    assert server.interpret(workload("PutMill")) == 6
    assert server.ask("PUT", path, wanted).headers["etag"] == answer.headers["etag"]


def test_type_that_is_read_can_be_written_again(server: TypesServer) -> None:
    path = registered(server, "RoundMill")
    read = server.get(path)
    body = {name: read.json[name] for name in ("categoryId", "priorityId", "name", "group", "resourceInterfaces")}

    for known in (read.headers["etag"], "*"):
        again = server.ask("PUT", path, body, If_Match=known)
        assert (again.status, again.headers["etag"]) == (200, read.headers["etag"])


def test_entity_tag_that_a_type_must_not_have_is_a_condition(server: TypesServer) -> None:
    path = registered(server, "NoneMill")
    tag = server.get(path).headers["etag"]

    answers = [server.ask("DELETE", path, If_None_Match=each) for each in (tag, f"W/{tag}", '"other"')]

    assert [answer.status for answer in answers] == [412, 412, 204]


def test_fields_that_a_type_does_not_keep_are_errors(server: TypesServer) -> None:
    metadata = {"name": "mill", "labels": {"a": "b"}, "namespace": "bakery", "resourceVersion": "7"}
    written = karta("DropMill") | {"metadata": metadata | {"creationTimestamp": None}, "status": {"conditions": [1]}}

    refused = server.post(workload_type("DropMill", written))
    empty = karta("DropMill") | {"metadata": {"name": "mill", "creationTimestamp": None}, "status": {}}

    places = ("metadata/namespace", "metadata/resourceVersion", "status")
    assert (refused.status, refused.pointers) == (422, {f"/resourceInterfaces/0/{place}" for place in places})
    assert server.post(workload_type("DropMill", empty)).status == 201, "as Go writes a Karta"


def test_labels_that_no_api_server_takes_are_errors(server: TypesServer) -> None:
    labels = {"a b": "c", "n": 1, "long": "x" * 64, "example.io/": "a", "example.io/team": "bakery", "empty": ""}
    written = karta("LabelledMill") | {"metadata": {"labels": labels}, "data": {"a": "b"}}

    refused = server.post(workload_type("LabelledMill", written))
    listed = server.post(workload_type("LabelledMill", karta("LabelledMill") | {"metadata": {"labels": ["a"]}}))

    wrong = {f"metadata/labels/{name}" for name in ("a b", "n", "long", "example.io~1")}
    assert refused.pointers == {f"/resourceInterfaces/0/{place}" for place in (*wrong, "data")}
    assert (refused.status, listed.status, listed.pointers) == (422, 422, {"/resourceInterfaces/0/metadata/labels"})


def test_replacing_removes_and_adds_versions(server: TypesServer) -> None:
    path = registered(server, "NextMill")
    wanted = workload_type("NextMill", karta("NextMill", version="v2"))
    assert server.ask("PUT", path, wanted).json["versions"] == ["v2"]
    answers = [server.interpret(workload("NextMill", version=each)) for each in ("v1", "v2")]
    assert answers == [None, 3]


def test_only_labels_can_change(server: TypesServer) -> None:
    path = registered(server, "LabelMill")
    answer = server.ask("PUT", path, workload_type("LabelMill", priorityId="high"))
    assert answer.json["priorityId"] == "high"
    assert server.get(path).json == answer.json


def test_deleted_type_does_not_answer(server: TypesServer) -> None:
    path = registered(server, "GoneMill")
    assert server.ask("DELETE", path).status == 204
    assert server.get(path).status == 404
    assert server.ask("DELETE", path).status == 404
    assert server.interpret(workload("GoneMill")) is None


def test_lost_race_is_412_and_changes_nothing(server: TypesServer) -> None:
    path = registered(server, "RaceMill")
    known = server.get(path).headers["etag"]
    first = server.ask("PUT", path, workload_type("RaceMill", priorityId="high"), If_Match=known)

    late = server.ask("PUT", path, workload_type("RaceMill", priorityId="low"), If_Match=known)
    gone = server.ask("DELETE", path, If_Match=known)

    assert (first.status, late.status, gone.status) == (200, 412, 412)
    assert server.get(path).json["priorityId"] == "high"
    assert server.ask("DELETE", path, If_Match=f'"other", {first.headers["etag"]}').status == 204


@pytest.mark.catalogue
def test_type_of_catalogue_is_listed_and_can_be_replaced(tmp_path: Path) -> None:
    with in_thread(tmp_path, catalogue=True, kinds=("JobSet",)) as server:
        (found,) = server.get(f"{TYPES}?filterBy=name==JobSet").json["types"]
        path = f"{TYPES}/{found['id']}"
        assert (found["source"], found["owner"], found["categoryId"]) == ("catalogue", "the catalogue", None)
        mine = karta("JobSet", group="jobset.x-k8s.io", version="v1alpha2")
        body = workload_type("JobSet", mine, group="jobset.x-k8s.io")

        refused = server.ask("PUT", path, body)
        taken = server.post(body)

        assert (refused.status, refused.json["owner"]) == (409, "the catalogue")
        assert (taken.status, taken.json["id"], taken.json["source"]) == (201, found["id"], "api")
        assert server.ask("DELETE", path).status == 204
        assert server.get(path).json["source"] == "catalogue"
        deletion = server.ask("DELETE", path)
        assert (deletion.status, "POST registers a type that takes precedence" in deletion.json["detail"]) == (
            409,
            True,
        )


def test_file_of_another_author_is_left_alone(tmp_path: Path) -> None:
    with in_thread(tmp_path) as server:
        file = tmp_path / "types" / "mine.json"
        file.write_text(json.dumps(karta("HandMill")))
        while "HandMill" not in {each["name"] for each in server.get().json["types"]}:
            pass
        answer = server.post(workload_type("HandMill"))
        assert answer.status == 409
        assert answer.json["owner"] == f"the author of the file {file}"


def test_types_are_there_after_a_restart(tmp_path: Path) -> None:
    with in_thread(tmp_path) as server:
        answer = server.post(workload_type("KeptMill"))
    with in_thread(tmp_path) as server:
        again = server.get(answer.headers["location"])
        assert (again.json, again.headers["etag"]) == (answer.json, answer.headers["etag"])


def test_validate_stores_nothing(server: TypesServer) -> None:
    odd = karta("OnlyMill", statusDefinition={"phaseDefinition": {"path": ".status.phase"}, "statusMappings": {}})
    answer = server.post(workload_type("OnlyMill", odd), f"{TYPES}:validate")
    assert answer.status == 200, answer.json
    assert {each["severity"] for each in answer.json["findings"]} == {"warning"}
    assert server.get(f"{TYPES}?filterBy=name==OnlyMill").json["total"] == 0


def test_parts_that_contradict_each_other_are_a_finding(server: TypesServer) -> None:
    by_labels = karta("PartMill", scaleDefinition={"replicasPath": ".metadata.labels"})
    answer = server.post(workload_type("PartMill", by_labels), f"{TYPES}:validate")
    assert [found["rule"] for found in answer.json["findings"]] == ["crd-wrong-type"], answer.json


def test_findings_are_all_in_one_answer(server: TypesServer) -> None:
    broken = karta("WrongMill", scaleDefinition={"replicasPath": ".a["}, specDefinition={"podTemplateSpecPath": "env"})
    other = karta("OtherMill", version="v2", group="other.example.org")
    body = workload_type("WrongMill", broken, other, karta("WrongMill"), categoryId="none", priorityId="none")

    for path in (TYPES, f"{TYPES}:validate"):
        answer = server.post(body, path)
        assert answer.status == 422
        root = "/resourceInterfaces/{}/spec/structureDefinition/rootComponent"
        assert answer.pointers >= {
            "/categoryId",
            "/priorityId",
            f"{root.format(0)}/scaleDefinition/replicasPath",
            f"{root.format(0)}/specDefinition/podTemplateSpecPath",
            f"{root.format(1)}/kind/group",
            f"{root.format(1)}/kind/kind",
            f"{root.format(2)}/kind/version",
        }
    assert server.get(f"{TYPES}?filterBy=name==WrongMill").json["total"] == 0


@pytest.mark.parametrize(
    ("method", "path", "status", "detail"),
    [
        pytest.param("POST", f"{TYPES}/validate", 405, f"{TYPES}:validate judges it", id="an action behind a slash"),
        pytest.param("PUT", TYPES, 405, f"a registered type is at {TYPES}/{{id}}", id="a change of the list"),
        pytest.param("GET", f"{TYPES}/nowhere", 404, f"{TYPES} lists the ids", id="an id that does not exist"),
        pytest.param("GET", "/workload-types", 404, f"did you mean {TYPES}?", id="no version of the API"),
        pytest.param(
            "POST", f"{TYPES}?dryRun=All", 400, f"{TYPES}:validate judges a type", id="a dry run of Kubernetes"
        ),
    ],
)
def test_wrong_paths_lead_to_right_ones(server: TypesServer, method: str, path: str, status: int, detail: str) -> None:
    answer = server.ask(method, path)
    assert (answer.status, detail in answer.json["detail"]) == (status, True)


def test_id_in_capitals_is_the_same(server: TypesServer) -> None:
    path = registered(server, "CapitalMill")
    assert server.get(f"{TYPES}/{path.rpartition('/')[2].upper()}").json["name"] == "CapitalMill"


def test_weak_entity_tag_is_said_to_be_weak(server: TypesServer) -> None:
    path = registered(server, "WeakMill")
    tag = server.get(path).headers["etag"]
    answer = server.ask("DELETE", path, If_Match=f"W/{tag}")
    assert (answer.status, f"{tag} without W/" in answer.json["detail"]) == (412, True)


@rows(
    ("query", "names", "total"),
    [
        pytest.param("filterBy=group==list.example.org", ["AMill", "BMill", "CMill"], 3, id="all, by name"),
        pytest.param("filterBy=group==list.example.org&sortOrder=desc", ["CMill", "BMill", "AMill"], 3, id="backwards"),
        pytest.param("filterBy=group==list.example.org&limit=1&offset=1", ["BMill"], 3, id="a page"),
        pytest.param("filterBy=group=^list.&filterBy=name=$Mill,name!=AMill", ["BMill", "CMill"], 2, id="conditions"),
        pytest.param("filterBy=group=@list,priorityId==high", ["CMill"], 1, id="by priority"),
        pytest.param("filterBy=group=@LIST,priorityId==High,source==API", ["CMill"], 1, id="in any case"),
        pytest.param(
            "filterBy=group=@list&sortBy=priorityId", ["CMill", "AMill", "BMill"], 3, id="by text of priority"
        ),
        pytest.param("filterBy=group=@list&externalTypesOnly=true", ["AMill", "BMill", "CMill"], 3, id="of this API"),
        pytest.param("filterBy=source==catalogue&externalTypesOnly=true", [], 0, id="none of the catalogue"),
    ],
)
def test_list_is_filtered_sorted_and_paged(server: TypesServer, query: str, names: list[str], total: int) -> None:
    for kind, priority in (("BMill", "medium"), ("CMill", "high"), ("AMill", "low")):
        body = workload_type(kind, group="list.example.org", priorityId=priority)
        assert server.post(body).status in (200, 201)
    answer = server.get(f"{TYPES}?{query}").json
    assert ([each["name"] for each in answer["types"]], answer["total"]) == (names, total)


def test_filter_by_unknown_id_is_error(server: TypesServer) -> None:
    (error,) = server.get(f"{TYPES}?filterBy=categoryId==training,priorityId=@ed").json["errors"]
    assert (error["detail"], error["hint"]) == ('there is no categoryId "training"', "did you mean train?")
    (error,) = server.get(f"{TYPES}?filterBy=source==external").json["errors"]
    assert (error["detail"], error["hint"][:21]) == ('there is no source "external"', "there are: api, catal")


def test_categories_and_priorities_are_settings(server: TypesServer, tmp_path: Path) -> None:
    assert [each["id"] for each in server.get("/api/v1/workload-categories").json["categories"]] == [
        "build",
        "train",
        "deploy",
    ]
    values = [each["value"] for each in server.get("/api/v1/workload-priorities").json["priorities"]]
    assert values == sorted(values)
    chosen = {"types_categories": ("Serve",), "types_priorities": ("last=1", "first=-5")}
    with in_thread(tmp_path, **chosen, without=("LeftMill",)) as other:
        assert other.get("/api/v1/workload-categories").json == {"categories": [{"id": "serve", "name": "Serve"}]}
        priorities = other.get("/api/v1/workload-priorities").json["priorities"]
        assert [each["id"] for each in priorities] == ["first", "last"]
        assert other.post(workload_type()).pointers == {"/categoryId", "/priorityId"}
        left_out = other.post(workload_type("LeftMill", categoryId="serve", priorityId="last"))
        assert (left_out.status, left_out.json["errors"][0]["rule"]) == (422, "kind-left-out")
