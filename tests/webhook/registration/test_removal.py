import pytest

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.webhook.registration.registrar import registrations, unregister
from tests.webhook.registration.control_plane import CONFIGURATIONS
from tests.webhook.registration.rig import NAME, Rig


async def test_unregister(rig: Rig) -> None:
    rig.plane.write(CONFIGURATIONS, NAME, {"webhooks": []})

    assert await registrations(rig.api) == [NAME]
    await unregister(rig.api)
    assert not await registrations(rig.api)
    await unregister(rig.api)
    rig.plane.refused["DELETE", CONFIGURATIONS] = 403
    with pytest.raises(ClusterError, match="delete"):
        await unregister(rig.api)
