"""The registration is taken back, and nobody asks us any more."""

from tests.proofs.e2e.flow import say
from tests.proofs.e2e.installed import Installed
from tests.proofs.rig.interpreter import run


def test_unregister_takes_the_registration_back(installed: Installed) -> None:
    with installed.serving():
        pass
    done = run("unregister", "--kubeconfig", installed.kubeconfig)
    say(f"  {done.stdout}{done.stderr}".rstrip())
    assert done.returncode == 0
    assert installed.registration()["webhooks"] == []

    done = run("doctor", "--kubeconfig", installed.kubeconfig)
    say(f"{done.stdout}{done.stderr}")
    assert done.returncode == 1
