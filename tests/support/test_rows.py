import pytest

from tests.support.rows import choose, rows


def test_each_row_that_fails_is_named_with_its_reason() -> None:
    @rows(("number", "wanted"), [(1, 1), pytest.param(2, 3, id="two"), (4, 5)])
    def test_of_rows(number: int, wanted: int) -> None:
        assert number == wanted, f"{number} is not {wanted}"

    with pytest.raises(BaseExceptionGroup, match=r"2 of 3 rows fail\nrow: two\nrow: 4, 5") as caught:
        test_of_rows()
    assert [str(each).partition("\n")[0] for each in caught.value.exceptions] == ["2 is not 3", "4 is not 5"]


def test_row_that_raises_too_little_fails() -> None:
    @rows("number", [1])
    def test_of_rows(number: int) -> None:
        with pytest.raises(ZeroDivisionError):
            assert number / 1

    with pytest.raises(BaseExceptionGroup, match="1 of 1 rows fail"):
        test_of_rows()


def test_table_without_rows_is_a_mistake() -> None:
    with pytest.raises(AssertionError, match="no rows"):
        rows("number", [])(lambda number: None)()  # noqa: ARG005


@rows("number", [1, 2])
def test_fixtures_are_those_of_the_test(number: int, request: pytest.FixtureRequest) -> None:
    assert number
    assert request.node.name == "test_fixtures_are_those_of_the_test"


def test_rows_with_a_word_in_their_names_can_be_tried_alone() -> None:
    tried = list[int]()

    @rows("number", [pytest.param(1, id="batch/v1 Job"), pytest.param(2, id="ray.io/v1/RayJob"), 3])
    def test_of_rows(number: int) -> None:
        tried.append(number)

    choose("job")
    try:
        test_of_rows()
        choose("Jo")
        with pytest.raises(pytest.skip.Exception, match="no row has the word Jo"):
            test_of_rows()
    finally:
        choose("")
    assert tried == [1]
