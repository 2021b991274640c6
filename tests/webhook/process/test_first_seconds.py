"""A server in its first seconds, while the API server refuses what its answers need."""

import json
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.definitions.sources.scripted_api import ScriptedApi, serving, status, write_kubeconfig
from tests.webhook.process.client import Client, get, post

KARTA = """
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: orchestra}
spec:
  structureDefinition:
    references:
      - name: hall
        gvk: {group: toys.example.com, version: v1, kind: Hall}
        lookup: {nameExpression: .spec.hall}
    rootComponent:
      name: orchestra
      kind: {group: toys.example.com, version: v1, kind: Orchestra}
      specDefinition: {podTemplateSpecPath: "$hall.spec.template // {spec: {}}"}
      scaleDefinition: {replicasPath: .spec.players}
"""
HALLS = "/apis/toys.example.com/v1/hall"
TEMPLATE = {"spec": {"containers": [{"name": "seat", "resources": {"requests": {"nvidia.com/gpu": "8"}}}]}}


def _question() -> bytes:
    metadata = {"name": "o", "namespace": "a"}
    obj: Any = {"apiVersion": "toys.example.com/v1", "kind": "Orchestra", "metadata": metadata}
    obj["spec"] = {"hall": "great", "players": 2}
    kind = {"group": "toys.example.com", "version": "v1", "kind": "Orchestra"}
    return json.dumps({"request": {"uid": "1", "kind": kind, "operation": "InterpretReplica", "object": obj}}).encode()


@pytest.mark.parametrize("code", [403, 404, 500])
async def test_answer_and_readiness_wait_for_what_is_refused_for_a_moment(tmp_path: Path, code: int) -> None:
    folder = tmp_path / "kartas"
    folder.mkdir()
    (folder / "orchestra.yaml").write_text(KARTA)
    api = ScriptedApi(kinds={"toys.example.com/v1": ["Hall", "Orchestra"]})
    api.collections[HALLS] = {}
    api.put(HALLS, "great", {"template": TEMPLATE}, namespace="a")
    api.on("get", HALLS, status(code), times=10_000)
    async with serving(api):
        kubeconfig = write_kubeconfig(tmp_path / "config", api.url)
        settings = Settings(
            port=0, cluster=True, kubeconfig=kubeconfig, catalogue=False, folders=(folder,), plain_http=True
        )
        async with Server(settings) as server:
            client = await Client.connect(server.started.port, None)
            await api.was_asked("get", HALLS, times=2)
            refused, probe = await client.ask(post(_question())), await client.ask(get("/readyz"))
            api.behave()
            await client.ask_until(post(_question()), lambda answer: answer.response["successful"])
            answer = await client.ask(post(_question()))
            await client.ask_until(get("/readyz"), lambda answer: answer.status == 200)
            await client.close()

    assert "cannot be looked up" in refused.response["status"]["message"]
    assert probe.status == 503
    assert b"Kind=Hall" in probe.body
    assert answer.response["replicaRequirements"]["resourceRequest"] == {"nvidia.com/gpu": "8"}
