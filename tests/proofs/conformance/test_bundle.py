"""The catalogue can take the place of all that Karmada bundles."""

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta import catalogue_kinds
from tests.proofs.conformance.bundle import KINDS, LATER, answered
from tests.support.rows import rows


@rows("kind", sorted(KINDS))
def test_bundled_kind_is_in_the_catalogue_in_a_served_version(kind: str) -> None:
    assert answered(_gvk(kind)) in catalogue_kinds()


def test_omitted_version_is_bundled_and_unanswered() -> None:
    assert LATER.keys() <= KINDS
    assert not {_gvk(kind) for kind in LATER} & catalogue_kinds().keys()


def _gvk(kind: str) -> GVK:
    api_version, _, name = kind.partition(" ")
    group, _, version = api_version.partition("/")
    return GVK(group, version, name)
