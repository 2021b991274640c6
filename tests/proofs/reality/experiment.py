"""One case on the cluster: the object on both API servers, its pods, and what Karmada would do between them."""

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.proofs.reality.case import Case
from tests.proofs.reality.findings import Finding, Outcome
from tests.proofs.reality.ours import Ours, RejectedError, UnansweredError
from tests.proofs.reality.template import prepared, template_of
from tests.proofs.rig.api import ApiError, Object
from tests.proofs.rig.cluster import Cluster
from tests.proofs.rig.phase_kubelet import Wish
from tests.proofs.rig.podstatus import PENDING, RUNNING, STARTED, SUCCEEDED

Judgement = Callable[[], list[Finding]]
Change = Callable[[Object], None]

_CONFLICT, _TURNS = 409, 8
_STILL = 60.0
_WITHOUT_STATUS = 12.0
_PERSISTS = 20.0


class GoneError(Exception):
    """The member has the object no longer."""


@dataclass
class Experiment:
    """A case while it runs: ``template`` is what Karmada sends, ``replicas`` is what the scheduler has assigned.

    ``given`` is the status that the CRD gives to a new object.
    """

    case: Case
    cluster: Cluster
    ours: Ours
    outcome: Outcome
    template: Object = field(default_factory=dict)
    replicas: int | None = None
    given: Object = field(default_factory=dict)
    begun: float = field(default_factory=time.monotonic)

    @property
    def stored(self) -> Object:
        """The object as karmada-apiserver has it."""
        found = self.cluster.karmada.find(self.case.object)
        if found is None:
            raise GoneError("karmada-apiserver")
        return found

    @property
    def live(self) -> Object:
        """The object as the member has it."""
        found = self.cluster.member.find(self.case.object)
        if found is None:
            raise GoneError("member")
        return found

    @property
    def pods(self) -> list[Object]:
        """The pods that are there, and count."""
        pods = self.cluster.activity.pods(self.case.namespace)
        chosen = self.case.components
        return [pod for pod in pods if not chosen or self.case.kind.component(pod) in chosen]

    def found(self, *findings: Finding) -> None:
        self.outcome.findings += findings

    def begin(self) -> bool:
        """Store the object, and create its template in the member; return whether it is there."""
        self._prepare()
        try:
            self.cluster.karmada.request("POST", self.cluster.karmada.collection(self.case.object), self.case.object)
            self.template = self._first_template()
            created = self.cluster.member.request("POST", self.cluster.member.collection(self.template), self.template)
            self.given = created.get("status") or {}
        except ApiError as error:
            self.found(Finding("creation", "" if self.case.rejected else error.message[:400]))
            return False
        if self.case.rejected:
            self.judge_that("creation", lambda: f"it is accepted, and has {len(self.pods)} pods" if self.pods else "")
        return not self.case.rejected

    def want(self, phase: str, wish: Wish | None = None) -> None:
        """Have the pods be in a phase; ``wish`` tells pods apart where they are not all in the same."""
        self.tell(phase)
        self.cluster.kubelet.want(self.case.namespace, self._prepared(wish or (lambda _: phase)))

    def _prepared(self, wish: Wish) -> Wish:
        """Return the wish with pods that only prepare others done where they would run."""
        prepares = self.case.kind.prepares

        def wanted(pod: Object) -> str:
            phase = wish(pod)
            return SUCCEEDED if phase in {STARTED, RUNNING} and prepares(pod) else phase

        return wanted

    def steady(self, settle: float | None = None) -> bool:
        """Wait until the object and its pods change no longer. Return False if they never do."""
        quiet = settle or self.case.settle
        while True:
            rests = self.cluster.activity.wait_until_quiet(self.case.namespace, quiet, _STILL)
            late = time.monotonic() - self.begun > _WITHOUT_STATUS
            status = (self.cluster.member.find(self.case.object) or {"status": "gone"}).get("status")
            if late or (status and status != self.given):
                return rests
            self.cluster.activity.wait_for_change(self.case.namespace, 1.0)

    def judge(self, judgement: Judgement) -> None:
        """Judge what is steady; a difference counts when it stays: a slow controller writes its status late."""
        deadline = time.monotonic() + _PERSISTS
        self.steady()
        findings = judgement()
        while any(finding.problem for finding in findings) and time.monotonic() < deadline:
            self.cluster.activity.wait_for_change(self.case.namespace, self.case.settle)
            self.steady()
            findings = judgement()
        self.found(*findings)

    def judge_that(self, what: str, problem: Callable[[], str]) -> None:
        """Judge one thing, which is as it should be when its problem is empty."""
        self.judge(lambda: [Finding(what, problem())])

    def tell(self, what: str) -> None:
        """Tell something to the stand-ins of what controllers ask next to the API server."""
        for listener in self.cluster.listeners:
            listener(self.case.namespace, what)
        self.cluster.activity.touch(self.case.namespace)

    def bring(self, thing: Object) -> None:
        """Create an object on both API servers."""
        extra = copy.deepcopy(thing)
        extra["metadata"].setdefault("namespace", self.case.namespace)
        for api in (self.cluster.member, self.cluster.karmada):
            api.apply(extra)

    def wait_until(self, question: Callable[[], bool], seconds: float) -> None:
        """Wait until the answer is true, or the time is over."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not question():
            self.cluster.activity.wait_for_change(self.case.namespace, min(left, 1.0))

    def revised(self) -> Object:
        """Return the template for a cluster that gets ``replicas``, or all of them."""
        stored = self.stored
        try:
            answer = self.ours.replica(stored)
            count = answer.get("replicas", 0) if self.replicas is None else self.replicas
            if count or answer.get("replicaRequirements"):
                return template_of(stored, self.ours.revise(stored, count))
        except UnansweredError:
            pass  # Karmada revises only what is registered for it
        return template_of(stored)

    def edit(self, change: Change) -> None:
        """Change the object on karmada-apiserver, as a user does; this cluster gets all of its replicas."""
        self.replicas, changed = None, self.stored
        change(changed)
        self.cluster.karmada.request("PUT", self.cluster.karmada.path(changed), changed)
        self.send()

    def send(self) -> None:
        """Send the template as it is now through Retain."""
        self.template = self.revised()
        self.write()

    def write(self) -> Object:
        """Write the template to the member as Karmada does; return what the member makes of it."""
        self.cluster.activity.touch(self.case.namespace)
        for _ in range(_TURNS):
            observed = self.live
            desired = self.ours.retain(prepared(self.template, observed), observed)
            try:
                written: Object = self.cluster.member.request("PUT", self.cluster.member.path(desired), desired)
            except ApiError as error:
                if error.status != _CONFLICT:
                    raise
            else:
                return written
        raise ApiError("Retain", _CONFLICT, f"conflict, {_TURNS} times")

    def attempt(self, what: str, action: Callable[[], Any]) -> bool:
        """Do something that has to be taken; enter a finding, and return whether it was."""
        try:
            action()
        except (ApiError, RejectedError) as error:
            self.found(Finding(what, f"not taken: {error}"[:500]))
            return False
        self.found(Finding(what))
        return True

    def end(self) -> None:
        self.cluster.member.delete(self.case.object)

    def _first_template(self) -> Object:
        try:
            template = self.revised()
        except RejectedError as error:
            self.found(Finding("interpretation", "" if self.case.rejected else f"rejected: {error}"))
            return template_of(self.stored)
        if self.case.rejected:
            self.found(Finding("interpretation", "the product answers for an object that is rejected"))
        return template

    def _prepare(self) -> None:
        self.cluster.add_namespace(self.case.namespace)
        self.cluster.watch(
            self.cluster.member.collection(self.case.object).replace(f"/namespaces/{self.case.namespace}", "")
        )
        for thing in self.case.before:
            self.bring(thing)
        if self.case.keeps_images:
            self.cluster.kubelet.keeping_images.add(self.case.namespace)
        self.want(PENDING)
