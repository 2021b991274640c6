"""Without certificate files the server signs its own certificate, and Karmada trusts it by what is registered."""

from tests.proofs.e2e.flow import flowing, say
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kinds import kind_of
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import weighted


def test_karmada_trusts_the_registered_authority(plane: ControlPlane, installed: Installed) -> None:
    kind = kind_of("PyTorchJob")
    server = installed.serve_self_signed()
    installed.registered({"url": server.url})
    authorities = {webhook["clientConfig"]["caBundle"] for webhook in installed.registration()["webhooks"]}
    say(f"  the registration has {len(authorities)} authority of its own")
    with flowing(plane, kind, kind.workload("self-signed"), weighted(2, 1)) as flow:
        flow.members(kind.stages[0].members)
        flow.report(member1="running", member2="running")
        flow.health(member1="Healthy", member2="Healthy")
    installed.stop(server)
