import json

from karta_interpreter.webhook.wire import encode_status
from tests.support.rows import rows


@rows(
    ("status", "reason"), [(400, "BadRequest"), (405, "MethodNotAllowed"), (413, "RequestEntityTooLarge"), (431, None)]
)
def test_http_error_is_kubernetes_status_with_reason(status: int, reason: str | None) -> None:
    body = json.loads(encode_status(status, "no"))
    assert (body["kind"], body["apiVersion"], body["status"]) == ("Status", "v1", "Failure")
    assert (body["code"], body["message"]) == (status, "no")
    assert body["reason"] == (reason or "RequestHeaderFieldsTooLarge")
