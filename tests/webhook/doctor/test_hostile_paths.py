"""What a registration names is never a part of a path that doctor asks for."""

import asyncio
from dataclasses import dataclass, field

from hypothesis import example, given, settings, strategies as st

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.webhook.doctor.runner import examine
from tests.support.examples import EXAMPLES
from tests.support.paths import HOSTILE, WELL_FORMED
from tests.webhook.doctor.karmada import CLUSTERS, CONFIGURATIONS, Karmada, Raw, configuration, items, rule


@dataclass
class _Asked(Karmada):
    paths: list[str] = field(default_factory=list)

    async def get(self, path: str) -> Raw:
        self.paths.append(path)
        return await super().get(path)


@settings(max_examples=EXAMPLES, deadline=None)
@example([*HOSTILE])
@given(st.lists(st.text(max_size=60), max_size=5))
def test_service_and_kind_of_webhook_are_not_a_path(texts: list[str]) -> None:
    found = list[Raw]()
    for text in (*texts, "a"):
        # The port is one that nobody listens on.
        services = [{"namespace": text, "name": "a", "port": 1}, {"namespace": "a", "name": text, "port": 1}]
        for service in services:
            rules = rule(GVK(text, "v1", "Mill")), rule(GVK("a.io", text, "Mill"))
            found.append(configuration({"service": service}, *rules))
    objects = {"/version": {"gitVersion": "v1.36.2"}, CLUSTERS: items(), CONFIGURATIONS: items(*found)}
    objects |= {f"/apis/{text}": {"versions": [{"version": text}]} for text in texts}
    asked = _Asked({**objects})
    asyncio.run(examine(asked, name="karta-interpreter"))
    assert not [path for path in asked.paths if not WELL_FORMED.fullmatch(path)]
    assert {"/api/v1/namespaces/a/services/a", "/apis/a.io"} <= {*asked.paths}
