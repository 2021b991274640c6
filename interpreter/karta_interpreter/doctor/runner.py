"""All checks, in the order of what a reader has to mend first."""

from collections import defaultdict
from collections.abc import Sequence

from karta_interpreter.doctor.address import Address, address_of
from karta_interpreter.doctor.control_plane import Api, ControlPlane, judge_clusters
from karta_interpreter.doctor.endpoint import examine_endpoint
from karta_interpreter.doctor.kinds import judge_coverage, judge_kartas, judge_kinds
from karta_interpreter.doctor.precedence import judge_gate, judge_precedence
from karta_interpreter.doctor.result import Result, ok, problem, warning
from karta_interpreter.doctor.webhooks import (
    Client,
    Webhook,
    judge_admission,
    judge_registration,
    judge_rules,
    judge_timeouts,
    kinds_of,
)
from karta_interpreter.errors import ClusterError

_API, _ADDRESS = "api server", "address"


async def examine(api: Api, *, name: str, url: str = "") -> list[Result]:
    """Return all results about the configuration of that name and the server behind it.

    With a ``url`` the server is dialled at its host and port instead of those that are registered; its certificate is
    judged for the registered name all the same.
    """
    try:
        version = await api.probe()
    except ClusterError as error:
        found = problem(_API, str(error), "give the kubeconfig of karmada-apiserver with --kubeconfig")
        return [found, *await _server_at(url)]
    plane = ControlPlane(api)
    webhooks = await plane.webhooks()
    results = [ok(_API, f"{api.url} answers, its version is {version}")]
    if webhooks is None:
        return [*results, *plane.results, *await _server_at(url)]
    ours = [webhook for webhook in webhooks if webhook.configuration == name]
    others = [webhook for webhook in webhooks if webhook.configuration != name]
    results += judge_registration(name, ours, others)
    results += await _rules(plane, ours, others)
    results += await _surroundings(plane, ours)
    results += judge_admission(await plane.admission(name), ours)
    results += await _servers(plane, ours, url)
    return [*results, *plane.results]


async def _rules(plane: ControlPlane, ours: Sequence[Webhook], others: Sequence[Webhook]) -> list[Result]:
    customizations = await plane.customizations()
    return [
        *judge_timeouts(ours),
        *judge_rules(ours),
        *judge_gate(ours, others, customizations),
        *judge_precedence(ours, others, customizations),
    ]


async def _surroundings(plane: ControlPlane, ours: Sequence[Webhook]) -> list[Result]:
    kinds = kinds_of(ours)
    results: list[Result] = []
    try:
        results += judge_kinds(kinds, await plane.served(kinds))
    except ClusterError as error:
        results.append(warning("kinds", str(error), "look again when the API server answers"))
    kartas = await plane.kartas()
    results += judge_kartas(kartas)
    if ours and not any(rule.wide for webhook in ours for rule in webhook.rules):
        results += judge_coverage(kartas, kinds)
    return [*results, *judge_clusters(await plane.clusters(), [webhook.client for webhook in ours])]


async def _servers(plane: ControlPlane, ours: Sequence[Webhook], url: str) -> list[Result]:
    """Each place that webhooks of ours name, once."""
    places: dict[Client, list[Webhook]] = defaultdict(list)
    for webhook in ours:
        places[webhook.client].append(webhook)
    if not places:
        return await _server_at(url)
    return [result for client, at in places.items() for result in await _server(plane, client, at, url)]


async def _server(plane: ControlPlane, client: Client, webhooks: Sequence[Webhook], url: str) -> list[Result]:
    try:
        service = await plane.service(client.service) if client.service else None
    except ClusterError as error:
        return [warning(_ADDRESS, str(error), "without it nobody can tell what Karmada dials")]
    address = address_of(client, service)
    if isinstance(address, Result):
        return [address]
    dialled = address_of(Client(url)) if url else address
    if isinstance(dialled, Result):
        return [dialled]
    if url:
        address = address.dialled_at(dialled)
    found = ok(_ADDRESS, f"Karmada dials {address} as {address.server_name}: {address.reason}")
    patience = min((webhook.timeout for webhook in webhooks if webhook.timeout is not None), default=None)
    return [found, *await examine_endpoint(address, client.ca_bundle, patience, list(kinds_of(webhooks)))]


async def _server_at(url: str) -> list[Result]:
    """A server without a registration."""
    if not url:
        return []
    address = address_of(Client(url))
    return await examine_endpoint(address, "", None, ()) if isinstance(address, Address) else [address]
