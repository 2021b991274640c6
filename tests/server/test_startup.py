from karta_interpreter.server.serving import Server
from karta_interpreter.server.settings import Settings
from tests.server.process import KARTAS


async def test_a_server_that_listens_says_where_with_what_and_for_whom() -> None:
    settings = Settings(port=0, host="0.0.0.0", folders=(KARTAS,), catalogue=False)  # noqa: S104 - the case
    async with Server(settings) as server:
        started = server.started
    assert started.port != 0
    assert started.url == f"https://127.0.0.1:{started.port}"
    assert [gvk.kind for gvk in started.snapshot.kinds()] == ["Balloon", "GrainMill", "Treadmill"]
    assert started.certificate is not None
    assert started.certificate.authority.startswith(b"-----BEGIN CERTIFICATE-----")
