"""All checks, in the order in which their problems should be fixed."""

import time
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus

from karta_interpreter.base.errors import NO_KUBECONFIG, ClusterError
from karta_interpreter.base.k8s import GVK, Object, edit, grouped, request_path
from karta_interpreter.base.karmada import GROUP, VERSION
from karta_interpreter.definitions.karta import kartas_path
from karta_interpreter.definitions.sources.api_server import Answer, ApiServer, existing
from karta_interpreter.engine.registered.interpreters import (
    Client,
    RegisteredWebhook,
    kinds_of,
    read_customization,
    read_webhooks,
)
from karta_interpreter.webhook.doctor.connection import address_of
from karta_interpreter.webhook.doctor.endpoint import examine_endpoint
from karta_interpreter.webhook.doctor.kinds import (
    ServedVersions,
    judge_clusters,
    judge_coverage,
    judge_kartas,
    judge_kinds,
    read_stored,
    served,
)
from karta_interpreter.webhook.doctor.result import IS_IN_POD, CheckResult, ok, problem, warning
from karta_interpreter.webhook.doctor.rights import REVIEWS, judge_rights
from karta_interpreter.webhook.doctor.shares import EVENTS, judge_shares
from karta_interpreter.webhook.doctor.token import judge_token
from karta_interpreter.webhook.doctor.webhooks import (
    judge_admission,
    judge_counts,
    judge_gate,
    judge_precedence,
    judge_registration,
    judge_rules,
    judge_timeouts,
    judge_writers,
)
from karta_interpreter.webhook.registration.admission_ca import admission_path
from karta_interpreter.webhook.registration.configuration import Endpoint
from karta_interpreter.webhook.registration.registrar import CONFIGURATIONS

_API, _CONTROL_PLANE, _ADDRESS = "api server", "control plane", "address"
_CUSTOMIZATIONS = request_path(GROUP, VERSION, "resourceinterpretercustomizations")
_CLUSTERS = request_path("cluster.karmada.io", "v1alpha1", "clusters")
_SKIPPED = "the checks about it are left out"
_RIGHTS = f"{_SKIPPED}; give the user of the kubeconfig the missing rights; system:anonymous is a user without a token"

_WHERE = (
    "in the Secret of this pod, as docs/install.md writes it (The kubeconfig of the server)"
    if IS_IN_POD
    else "with --kubeconfig (a context of it with --context)"
)
_NO_KARMADA = "this is not a Karmada: give the kubeconfig of karmada-apiserver {where}"
_BY_REASON = {
    NO_KUBECONFIG: "give the kubeconfig of karmada-apiserver {where}",
    "NoContext": "give a context that the kubeconfig has, or a kubeconfig with its user, {where}",
    "Configuration": "correct the kubeconfig, and give it {where}",
    "UnknownHost": (
        "names such as karmada-apiserver.karmada-system.svc exist inside the host cluster only, where `kubectl get "
        "services -A` lists them: run doctor in a pod there, or correct the server, and give the kubeconfig {where}"
    ),
    "Refused": (
        "start karmada-apiserver, or give a kubeconfig with its right port {where}; where it is not reachable from "
        "here, forward its port (kubectl port-forward)"
    ),
    "Timeout": (
        "check VPN, firewalls and NetworkPolicies between here and karmada-apiserver, or give a kubeconfig with "
        "another server {where}"
    ),
    "Certificate": (
        "the CA or the server name in this kubeconfig is that of another control plane: give the present one {where}"
    ),
    "TLS": "write the https URL of karmada-apiserver, with the port that speaks TLS, and give the kubeconfig {where}",
    "Unreadable": "another server answers at this URL: give a kubeconfig with the right one {where}",
}
_BY_STATUS: Mapping[int, str] = {
    HTTPStatus.BAD_REQUEST: "correct the server in the kubeconfig (https, host, port), and give it {where}",
    HTTPStatus.UNAUTHORIZED: "give a kubeconfig with new credentials {where}",
    HTTPStatus.FORBIDDEN: "give the user of the kubeconfig this right, or the kubeconfig of another user {where}",
    HTTPStatus.NOT_FOUND: "a proxy or another server answers at this URL: give a kubeconfig with the right one {where}",
}


async def examine(api: ApiServer, *, name: str, url: str = "") -> list[CheckResult]:
    """Return all results about the configuration with that name and the server behind it.

    With a ``url`` the server is dialled at the host and port in it instead of the registered ones. Its certificate is
    still checked for the registered name.
    """
    plane = _ControlPlane(api)
    try:
        version = (await api.get("/version")).get("gitVersion", "unknown")
    except ClusterError as error:
        advice = (
            _BY_STATUS.get(error.status)
            or (not error.status and _BY_REASON.get(error.reason))
            or "look at the log of karmada-apiserver; `doctor --wait SECONDS` waits until it answers"
        )
        return [problem(_API, str(error), advice.format(where=_WHERE)), *await _server_at(plane, url, None)]
    results = [ok(_API, f"{api.url} answers, its version is {version}")]
    try:
        named = {str(edit.get(obj, ("metadata", "name"))): obj for obj in await api.list(CONFIGURATIONS)}
        webhooks = [webhook for configuration in named.values() for webhook in read_webhooks(configuration)]
    except ClusterError as error:
        advice = {HTTPStatus.NOT_FOUND: _NO_KARMADA, 0: _SKIPPED}.get(error.status, _RIGHTS)
        return [
            *results,
            problem(_CONTROL_PLANE, str(error), advice.format(where=_WHERE)),
            *await _server_at(plane, url, None),
        ]
    ours = [webhook for webhook in webhooks if webhook.configuration == name]
    foreign = [webhook for webhook in webhooks if webhook.configuration != name]
    customizations = [read_customization(obj) for obj in await plane.objects(_CUSTOMIZATIONS) or ()]
    results += [
        *judge_registration(name, ours, foreign),
        *judge_writers(named.get(name), datetime.now(UTC)),
        *judge_timeouts(ours),
        *judge_rules(ours),
        *judge_gate(ours, foreign, customizations),
        *judge_precedence(ours, foreign, customizations),
        *judge_counts(ours, foreign, customizations),
        *await _kinds(plane, ours),
        *judge_shares(await plane.events()),
        *judge_rights(await plane.rights()),
        *judge_token(api.token_life(), time.time()),
        *(judge_admission(await plane.readable(api.get(admission_path(name)), optional=True), ours) if ours else ()),
        *await _servers(plane, ours, url),
    ]
    return [*results, *plane.results]


class _ControlPlane:
    """Reads karmada-apiserver. ``results`` collects errors of reading."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.results: list[CheckResult] = []

    async def objects(self, path: str, *, optional: bool = False) -> Sequence[Object] | None:
        """Return the objects of a collection, None if it cannot be read. An ``optional`` collection need not exist."""
        return await self.readable(self.api.list(path), optional=optional)

    async def service(self, client: Client) -> Object | None:
        """Return the Service of a webhook, None if it does not exist. Raises ClusterError."""
        if client.service is None:
            return None
        service = client.service
        path = request_path("", "v1", "services", namespace=service.namespace, name=service.name)
        return await existing(self.api.get(path))

    async def events(self) -> Sequence[Object]:
        """Return the events. Without the right to read them, which the server does not have, there are none."""
        try:
            return await self.api.list(EVENTS)
        except ClusterError:
            return ()

    async def rights(self) -> Object | None:
        """Return a SelfSubjectRulesReview, None if there is none."""
        # Its answer has the rules of one namespace, and all without a namespace.
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview"}
        spec = {"namespace": self.api.namespace}
        return await self.readable(self.api.create(REVIEWS, {**review, "spec": spec}), optional=True)

    async def served(self, kinds: Iterable[GVK]) -> dict[GVK, ServedVersions]:
        """Return how each kind is served. Raises ClusterError."""
        kinds = tuple(kinds)
        groups = sorted({gvk.group for gvk in kinds})
        resources = {group: await existing(self._resources(group)) or {} for group in groups}
        return {gvk: served(gvk, resources[gvk.group]) for gvk in kinds}

    async def _resources(self, group: str) -> Mapping[str, Sequence[Object]]:
        # /api has an APIVersions, with versions that are names. /apis/GROUP has an APIGroup, with versions that are
        # objects.
        versions = (await self.api.get(request_path(group)))["versions"]
        names = [entry["version"] for entry in versions] if group else versions
        return {name: await self.api.resources(f"{group}/{name}" if group else name) for name in names}

    async def readable(self, answer: Awaitable[Answer], *, optional: bool) -> Answer | None:
        """Return an answer, None if it cannot be had. What is ``optional`` need not exist."""
        try:
            return await (existing(answer) if optional else answer)
        except ClusterError as error:
            advice = _RIGHTS if error.status == HTTPStatus.FORBIDDEN else _SKIPPED
            self.results.append(warning(_CONTROL_PLANE, str(error), advice))
            return None


async def _kinds(plane: _ControlPlane, ours: Sequence[RegisteredWebhook]) -> list[CheckResult]:
    kinds = kinds_of(ours)
    results: list[CheckResult] = []
    try:
        results += judge_kinds(kinds, await plane.served(kinds))
    except ClusterError as error:
        results.append(warning("kinds", str(error), "run doctor again when the API server answers"))
    stored = await plane.objects(kartas_path(), optional=True)
    kartas = [read_stored(obj) for obj in stored or ()]
    results += judge_kartas(kartas, can_be_listed=stored is not None)
    # A rule with * registers kinds that it does not name.
    if ours and not any(rule.wide for webhook in ours for rule in webhook.rules):
        results += judge_coverage(kartas, kinds)
    clusters = await plane.objects(_CLUSTERS)
    return [*results, *(judge_clusters(clusters, [hook.client for hook in ours]) if clusters is not None else ())]


async def _servers(plane: _ControlPlane, ours: Sequence[RegisteredWebhook], url: str) -> list[CheckResult]:
    """Return the results about each address that our webhooks name, once per address."""
    if not ours:
        return await _server_at(plane, url, "")
    by_client = grouped((webhook.client, webhook) for webhook in ours)
    return [result for client, at in by_client.items() for result in await _server(plane, client, at, url)]


async def _server_at(plane: _ControlPlane, url: str, ca_bundle: str | None) -> list[CheckResult]:
    """Return the results about a URL without a registration, or nothing without a URL."""
    return await _server(plane, Client(str(Endpoint.of_url(url).at), None, ca_bundle), (), "") if url else []


async def _server(
    plane: _ControlPlane, client: Client, webhooks: Sequence[RegisteredWebhook], url: str
) -> list[CheckResult]:
    try:
        service = await plane.service(client)
    except ClusterError as error:
        return [warning(_ADDRESS, str(error), "without it the address that Karmada dials is unknown")]
    address = address_of(client, service)
    dialled = address_of(Client(url)) if url else address
    if isinstance(address, CheckResult):
        return [address]
    if isinstance(dialled, CheckResult):
        return [dialled]
    address = address.dialled_at(dialled) if url else address
    dialling = ok(
        _ADDRESS,
        f"Karmada dials {address} as {address.server_name}: {address.reason}"
        if webhooks
        else f"{client.url} is dialled",
    )
    timeout = min((webhook.timeout for webhook in webhooks if webhook.timeout is not None), default=None)
    return [dialling, *await examine_endpoint(address, client.ca_bundle, timeout, kinds_of(webhooks))]
