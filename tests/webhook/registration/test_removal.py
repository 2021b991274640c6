import pytest

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.webhook.registration.registrar import is_registered, unregister
from tests.webhook.registration.control_plane import CONFIGURATIONS
from tests.webhook.registration.rig import NAME, Rig


async def test_unregister(rig: Rig) -> None:
    rig.plane.write(CONFIGURATIONS, NAME, {"webhooks": []})

    assert await is_registered(rig.api)
    assert await unregister(rig.api)
    assert not await is_registered(rig.api)
    assert not await unregister(rig.api)
    rig.plane.refused["DELETE", CONFIGURATIONS] = 403
    with pytest.raises(ClusterError, match="delete"):
        await unregister(rig.api)
