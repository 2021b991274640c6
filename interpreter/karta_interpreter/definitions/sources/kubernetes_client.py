"""The client and the configuration of kubernetes_asyncio, without its models of the Kubernetes API.

An import of anything below `kubernetes_asyncio.client` executes this package, which imports 850 generated modules and
takes 38 MB. Here the packages are in `sys.modules` before they are executed, and only the necessary modules below them
are imported. A package is executed when a program asks it for another name, as if it was imported then.

No other module imports kubernetes_asyncio. Import this module only where it is used.
"""

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from urllib.parse import urlsplit

_PACKAGE = "kubernetes_asyncio"
_CLIENT = f"{_PACKAGE}.client"
_MODELS = f"{_CLIENT}.models"


def _defer(name: str) -> None:
    """Put a package into `sys.modules` that is executed when a program asks it for a missing name."""
    spec = find_spec(name) or ModuleSpec(name, None, is_package=True)  # the image has no models
    module = sys.modules[name] = module_from_spec(spec)
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)

    def execute(attribute: str) -> object:
        if not spec.loader or (attribute.startswith("__") and attribute not in ("__all__", "__version__")):
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        vars(module).pop("__getattr__", None)  # the package may look for names that it does not have yet
        try:
            spec.loader.exec_module(module)
        except ImportError as error:
            raise AttributeError(f"module {name!r} cannot be executed: {error}") from error
        return getattr(module, attribute)

    vars(module)["__getattr__"] = execute


if _PACKAGE not in sys.modules and find_spec(_PACKAGE):
    for _name in (_PACKAGE, _CLIENT, _MODELS):
        _defer(_name)
    import_module(f"{_CLIENT}.rest")  # api_client asks the package for it
    for _module, _class in (("configuration", "Configuration"), ("api_client", "ApiClient")):
        setattr(sys.modules[_CLIENT], _class, getattr(import_module(f"{_CLIENT}.{_module}"), _class))

from kubernetes_asyncio.client import ApiClient, Configuration  # noqa: E402 - after the packages are there
from kubernetes_asyncio.config import kube_config, load_incluster_config  # noqa: E402 - the same

__all__ = ["ApiClient", "Configuration", "check_server", "kube_config", "load_incluster_config"]


def check_server(url: str) -> None:
    """Raise ValueError for a server that cannot be sent requests. The error does not show a password."""
    url_parts = urlsplit(url)
    # A property that raises ValueError for an invalid port.
    _ = url_parts.port
    if url_parts.scheme not in ("http", "https") or not url_parts.hostname or "@" in url_parts.netloc:
        raise ValueError("its server has to be a URL such as https://HOST:6443, without a user")
