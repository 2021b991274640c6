import json

from tests.proofs.audit.admission import review
from tests.proofs.audit.bodies import FIELDS, filled
from tests.proofs.audit.definitions import definition
from tests.proofs.audit.families import expressions, long_karta

_LARGEST = 2 * 2**20


def test_fat_body_is_read_by_all_routes() -> None:
    """The workload types API reads 2 MiB; what is around the fields needs less than 10 KB."""
    for name, body in zip(FIELDS, filled({"request": {"FAT": 0}}), strict=True):
        assert _LARGEST / 2 < len(body) < _LARGEST - 10_000, name


def test_fields_stand_where_they_are_wanted() -> None:
    asked = json.loads(review(json.dumps({**definition(0, ".x"), "FAT": 0})))
    (body, *_) = filled(asked)
    found = json.loads(body)["request"]["object"]
    assert len(found) == 190_000 + len(definition(0, ".x"))


def test_families_have_expression_of_196_bytes_and_karta_of_470_kilobytes() -> None:
    assert 190 <= min(len(each) for each in expressions() if each.count("(.a // .b)[]") == 12) <= 200
    assert 450_000 < len(json.dumps(long_karta())) < 490_000
