"""What Flux applies, and the sources that it applies it from."""

from karta_interpreter.base.k8s.values import GVK
from tests.catalogue.statuses.states import DEGRADED, FAILED, INITIALIZING, RUNNING, SUSPENDED, UNDEFINED, States

_SOURCE = {
    "stored": RUNNING,
    "the first artifact is being built": INITIALIZING,
    "something new is being stored": INITIALIZING,
    "cannot be fetched": DEGRADED | INITIALIZING,
    "stalled": FAILED | DEGRADED,
    "suspended": RUNNING | SUSPENDED,
    "suspended after a failure": DEGRADED | SUSPENDED,
    "suspended before the first run": SUSPENDED,
    "the status is older than the spec": RUNNING,
    "no status yet": UNDEFINED,
}

FLUX: States = {
    GVK("helm.toolkit.fluxcd.io", "v2", "HelmRelease"): {
        "installed": RUNNING,
        "upgraded and being checked": RUNNING | INITIALIZING,
        "tested": RUNNING,
        "drift is reported": RUNNING,
        "being installed": INITIALIZING,
        "waits for a dependency": DEGRADED | INITIALIZING,
        "an upgrade has failed and is tried again": DEGRADED | INITIALIZING,
        "rolled back": DEGRADED,
        "out of retries": FAILED | DEGRADED,
        "suspended": RUNNING | SUSPENDED,
        "suspended after a failure": DEGRADED | SUSPENDED,
        "suspended before the first run": SUSPENDED,
        "the status is older than the spec": RUNNING,
        "no status yet": UNDEFINED,
    },
    GVK("kustomize.toolkit.fluxcd.io", "v1", "Kustomization"): {
        "applied": RUNNING,
        "a run at work": INITIALIZING,
        "waits for a dependency": DEGRADED,
        "what was applied is not healthy": DEGRADED | INITIALIZING,
        "stalled": FAILED | DEGRADED,
        "suspended": RUNNING | SUSPENDED,
        "suspended after a failure": DEGRADED | SUSPENDED,
        "suspended before the first run": SUSPENDED,
        "the status is older than the spec": RUNNING,
        "no status yet": UNDEFINED,
    },
    GVK("source.toolkit.fluxcd.io", "v1", "Bucket"): _SOURCE,
    GVK("source.toolkit.fluxcd.io", "v1", "GitRepository"): {
        **_SOURCE,
        "a repository to include is missing": DEGRADED,
    },
    GVK("source.toolkit.fluxcd.io", "v1", "HelmChart"): {**_SOURCE, "packaged from a repository": RUNNING},
    GVK("source.toolkit.fluxcd.io", "v1", "HelmRepository"): {
        **_SOURCE,
        "an OCI registry": RUNNING,
        "an OCI registry that was an HTTP one": RUNNING,
    },
    GVK("source.toolkit.fluxcd.io", "v1", "OCIRepository"): _SOURCE,
}
