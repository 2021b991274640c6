"""Every status that docs/types-api.md names, with a request that gets it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.rows import rows
from tests.web.types_api.types_server import TYPES, TypesServer, in_thread, karta, workload_type

UNKNOWN = f"{TYPES}/00000000-0000-0000-0000-000000000000"
TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    412: "Precondition Failed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    422: "Unprocessable Content",
    429: "Too Many Requests",
}
"""The phrases of RFC 9110 and RFC 6585."""
DEEP = ("[" * 400 + "]" * 400).encode()

ROWS = [
    pytest.param("POST", TYPES, b"{", {}, 400, id="400: no JSON"),
    pytest.param("POST", TYPES, b"[" * 5000, {}, 400, id="400: JSON that is nested too deeply to be read"),
    pytest.param("GET", f"{TYPES}?limit=0", None, {}, 400, id="400: a page without types"),
    pytest.param("GET", f"{TYPES}?sortby=name", None, {}, 400, id="400: a parameter in the wrong case"),
    pytest.param("GET", f"{TYPES}?filterBy=name", None, {}, 400, id="400: no condition"),
    pytest.param("GET", f"{TYPES}?filterBy=name==A|name==B", None, {}, 400, id="400: one of two conditions"),
    pytest.param("GET", f"{TYPES}?filterBy=name==%22A%22", None, {}, 400, id="400: quotes around a value"),
    pytest.param("GET", f"{TYPES}?filterBy=name==A*", None, {}, 400, id="400: a pattern"),
    pytest.param("GET", f"{TYPES}?filterBy=source==a/b.yaml;name==A", None, {}, 400, id="400: another comma"),
    pytest.param("GET", f"{TYPES}?filterBy=name===A", None, {}, 400, id="400: an operator of JavaScript"),
    pytest.param("GET", f"{TYPES}?limit=1&limit=2", None, {}, 400, id="400: a parameter that is given twice"),
    pytest.param("DELETE", "TYPE", None, {"If_Match": "abc"}, 400, id="400: no entity tag"),
    pytest.param("DELETE", "TYPE", None, {"ETag": '"0"'}, 400, id="400: the header of answers for a condition"),
    pytest.param(
        "DELETE",
        "TYPE",
        None,
        {"If_Unmodified_Since": "Wed, 21 Oct 2015 07:28:00 GMT"},
        400,
        id="400: a condition by time",
    ),
    pytest.param("DELETE", "TYPE", None, {"IfMatch": '"0"'}, 400, id="400: a condition without its hyphen"),
    pytest.param("DELETE", "TYPE", None, {"If_None_Match": "abc"}, 400, id="400: no entity tag that it has not"),
    pytest.param("POST", TYPES, b'{"name": "A", "name": "B"}', {}, 400, id="400: the first name would be lost"),
    pytest.param("GET", "TYPE?pretty=true", None, {}, 400, id="400: a parameter that has no effect"),
    pytest.param("GET", TYPES, None, {"token": None}, 401, id="401: no token"),
    pytest.param("GET", TYPES, None, {"token": "another-token-0123456789"}, 401, id="401: an unknown token"),
    pytest.param("GET", TYPES, None, {"token": "\xff\xfe" * 10}, 401, id="401: a token that is not UTF-8"),
    pytest.param("GET", TYPES, None, {"token": None, "Authorization": "Basic YTpi"}, 401, id="401: another scheme"),
    pytest.param("GET", "/api/v1/nothing", None, {"token": None}, 401, id="401: before 404"),
    pytest.param("GET", "/api/v1/nothing", None, {}, 404, id="404: no such path"),
    pytest.param("GET", "/interpret", None, {"token": None}, 404, id="404: a path of serve, before 401"),
    pytest.param("GET", "/%7Bid%7D/%7Bid%7D", None, {}, 404, id="404: a path like that of a route"),
    pytest.param("GET", UNKNOWN, None, {}, 404, id="404: no such type"),
    pytest.param("PUT", UNKNOWN, workload_type(), {}, 404, id="404: replacing needs a type"),
    pytest.param("DELETE", UNKNOWN, None, {}, 404, id="404: deleting needs a type"),
    pytest.param("PATCH", TYPES, b"{}", {}, 405, id="405: another method"),
    pytest.param("POST", TYPES, workload_type("StatusMill", priorityId="low"), {}, 409, id="409: another content"),
    pytest.param("DELETE", "TYPE", None, {"If_Match": '"0"'}, 412, id="412: another entity tag"),
    pytest.param("DELETE", "TYPE", None, {"If_Match": 'W/"0"'}, 412, id="412: a weak one is never the same"),
    pytest.param("PUT", "TYPE", workload_type("StatusMill"), {"If_None_Match": "*"}, 412, id="412: not a new type"),
    pytest.param("POST", TYPES, workload_type("StatusMill"), {"If_None_Match": "*"}, 412, id="412: only a new type"),
    pytest.param("POST", TYPES, b"[" + b" " * 2**21 + b"]", {}, 413, id="413: more than 2 MiB"),
    pytest.param("POST", TYPES, b"a: 1", {"Content_Type": "application/yaml"}, 415, id="415: YAML"),
    pytest.param("POST", TYPES, b"{}", {"Content_Encoding": "gzip"}, 415, id="415: compressed"),
    pytest.param("POST", TYPES, [], {}, 422, id="422: a list"),
    pytest.param("POST", TYPES, {}, {}, 422, id="422: nothing of a type"),
    pytest.param("POST", TYPES, workload_type(name="grain"), {}, 422, id="422: no name of a kind"),
    pytest.param("POST", TYPES, workload_type(name=1), {}, 422, id="422: a name of another type"),
    pytest.param("POST", TYPES, workload_type() | {"more": 1}, {}, 422, id="422: an unknown field"),
    pytest.param("POST", TYPES, workload_type(resourceInterfaces=[]), {}, 422, id="422: no Karta"),
    pytest.param("POST", TYPES, workload_type(resourceInterfaces=[{}]), {}, 422, id="422: an empty Karta"),
    pytest.param("POST", TYPES, workload_type("A", {"kind": "Pod"}), {}, 422, id="422: another object"),
    pytest.param("POST", TYPES, workload_type("A", karta("A") | {"metadata": 1}), {}, 422, id="422: no metadata"),
    pytest.param("PUT", "TYPE", workload_type("OtherMill"), {}, 422, id="422: another type than that of the path"),
]


@rows(("method", "path", "body", "options", "status"), ROWS)
def test_bad_request_gets_its_status_as_a_problem(
    server: TypesServer, method: str, path: str, body: Any, options: dict[str, Any], status: int
) -> None:
    known = server.post(workload_type("StatusMill")).json["id"]
    answer = server.ask(method, path.replace("TYPE", f"{TYPES}/{known}"), body, **options)
    assert answer.status == status, answer.body
    assert answer.headers["content-type"].startswith("application/problem+json")
    problem = answer.json
    assert problem["status"] == status
    assert problem["type"].startswith("urn:karta-interpreter:problem:")
    assert problem["title"] == TITLES[status]
    assert problem["detail"]
    assert {401: "www-authenticate", 405: "allow"}.get(status, "date") in answer.headers
    assert server.get(f"{TYPES}/{known}").status == 200


def test_errors_have_the_words_of_validate(server: TypesServer) -> None:
    body = {key: value for key, value in workload_type().items() if key != "group"} | {"more": 1, "categoryId": 7}
    errors = {each["pointer"]: each["detail"] for each in server.post(body).json["errors"]}
    assert errors == {
        "/group": "the field group is missing",
        "/more": "there is no field more",
        "/categoryId": "must be a string, not a number",
    }


@rows(
    ("body", "reason"),
    [
        pytest.param(b"", "it is empty", id="nothing"),
        pytest.param("{}".encode("utf-16"), "it is UTF-16: save it as UTF-8", id="the output of PowerShell"),
        pytest.param(b'{"a": [{"b": 1, "b": 2}]}', 'has "b" 2 times', id="a name twice: JSON keeps only the last"),
        pytest.param(b"[" * 1010 + b"]" * 1010, "nested too deeply", id="lists that json of Python 3.13 reads, too"),
        pytest.param(b"[" * 801 + b"]" * 801, "nested too deeply", id="lists that json of every Python reads"),
    ],
)
def test_body_that_is_no_json_is_named(server: TypesServer, body: bytes, reason: str) -> None:
    assert reason in server.ask("POST", TYPES, body).json["detail"]


@rows(
    "body",
    [
        pytest.param([workload_type()], id="a list"),
        pytest.param({"apiVersion": "v1", "kind": "Pod"}, id="a pod"),
        pytest.param(karta(), id="a Karta"),
        pytest.param({"name": "Bakery"}, id="a part of a type"),
    ],
)
def test_body_that_is_no_type_is_rejected(server: TypesServer, body: Any) -> None:
    answer = server.ask("POST", TYPES, json.dumps(body).encode())

    assert answer.status == 422
    assert "not as openapi.json describes it" in answer.json["detail"]


def test_object_in_the_place_of_its_karta_is_named_for_clients(server: TypesServer) -> None:
    pod = {"apiVersion": "list.example.org/v1", "kind": "HintMill", "metadata": {"name": "a"}, "spec": {}}
    (error,) = server.post(workload_type("HintMill", pod)).json["errors"]
    assert (
        error["hint"]
        == "give its Karta instead, and this to /interpret of `karta-interpreter serve`, as request.object"
    )


def test_name_in_spelling_of_python_is_unknown(server: TypesServer) -> None:
    body = workload_type("SpellingMill")
    (missing, unknown) = server.post({"category_id": body.pop("categoryId"), **body}).json["errors"]
    assert (missing["pointer"], unknown["hint"]) == ("/categoryId", "did you mean categoryId?")


def test_too_deep_karta_is_422(server: TypesServer) -> None:
    body = json.dumps(workload_type("DeepMill", karta("DeepMill", more="DEEP"))).encode().replace(b'"DEEP"', DEEP)
    assert server.post(body).status == 422


def test_too_many_requests_get_429_and_a_time_to_wait(tmp_path: Path) -> None:
    with in_thread(tmp_path, rate=3) as server:
        answers = [server.get("/api/v1/workload-categories", token=None) for _ in range(4)]
        assert [each.status for each in answers] == [401, 401, 401, 429]
        assert int(answers[-1].headers["retry-after"]) > 0


def test_unwritable_folder_is_503(tmp_path: Path) -> None:
    with in_thread(tmp_path) as server:
        (tmp_path / "types").rename(tmp_path / "away")
        answer = server.post(workload_type())
        assert answer.status == 503
        assert "retry-after" in answer.headers
