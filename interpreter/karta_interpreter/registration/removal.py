"""Taking a registration back."""

from http import HTTPStatus

from karta_interpreter.errors import ClusterError
from karta_interpreter.registration.configuration import NAME
from karta_interpreter.sources.api_server import ApiServer

CONFIGURATIONS = "/apis/config.karmada.io/v1alpha1/resourceinterpreterwebhookconfigurations"
"""Where an API server of Karmada has the configurations."""


async def unregister(api: ApiServer, name: str = NAME) -> bool:
    """Delete a configuration; return whether there was one."""
    try:
        await api.delete(f"{CONFIGURATIONS}/{name}")
    except ClusterError as error:
        if error.status == HTTPStatus.NOT_FOUND:
            return False
        raise
    return True


async def is_registered(api: ApiServer, name: str = NAME) -> bool:
    """Return whether there is a configuration of that name."""
    try:
        await api.get(f"{CONFIGURATIONS}/{name}")
    except ClusterError as error:
        if error.status == HTTPStatus.NOT_FOUND:
            return False
        raise
    return True


def advice(error: ClusterError) -> str:
    """The advice for a request for a configuration that fails, beyond the error's own text."""
    if error.status == HTTPStatus.NOT_FOUND:
        return "; the kubeconfig has to be that of karmada-apiserver, not of the cluster it runs in"
    return ""
