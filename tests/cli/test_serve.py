import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from karta_interpreter.cli import serve
from karta_interpreter.webhook.settings import Bounds, Settings

Run = Callable[..., Result]


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """What `serve` would have started a server with."""
    taken: list[Settings] = []
    monkeypatch.setattr(serve, "run", lambda settings, **_: taken.append(settings))
    return taken


def test_without_flags_the_settings_are_the_defaults(run: Run, settings: list[Settings]) -> None:
    assert run("serve").exit_code == 0
    assert settings == [Settings()]


def test_settings_have_flags_and_variables() -> None:
    fields = {field.name for field in dataclasses.fields(Settings)} - {
        field.name for field in dataclasses.fields(Bounds)
    }
    options = {option.name: option for option in serve.command.params}

    assert options.keys() == fields
    assert all(str(option.envvar).startswith("KARTA_INTERPRETER_") for option in options.values())


def test_kinds_can_be_chosen(run: Run, settings: list[Settings], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("serve", "--kinds", "RayJob", "--kinds", "JobSet", "--without", "apps/v1/*").exit_code == 0
    monkeypatch.setenv("KARTA_INTERPRETER_WITHOUT", "apps/v1/* batch/v1/Job")
    assert run("serve").exit_code == 0
    assert settings == [
        Settings(kinds=("RayJob", "JobSet"), without=("apps/v1/*",)),
        Settings(without=("apps/v1/*", "batch/v1/Job")),
    ]


def test_flags_are_settings(run: Run, settings: list[Settings], tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b.yaml").touch()

    result = run(
        *("serve", "--host", "0.0.0.0", "--port", "0", "--no-catalogue", "--webhook-timeout", "5"),  # noqa: S104 - only read
        *("--kartas", str(tmp_path / "a"), "--kartas", str(tmp_path / "b.yaml")),
        *("--overrides", str(tmp_path / "b.yaml"), "--overrides", str(tmp_path / "a")),
        *("--certificate-name", "one", "--certificate-name", "two", "--plain-http"),
    )

    assert result.exit_code == 0
    assert settings == [
        Settings(
            host="0.0.0.0",  # noqa: S104 - only compared
            port=0,
            folders=(tmp_path / "a", tmp_path / "b.yaml"),
            overrides=(tmp_path / "b.yaml", tmp_path / "a"),
            catalogue=False,
            certificate_names=("one", "two"),
            plain_http=True,
            webhook_timeout=5,
        )
    ]


def test_variables_are_settings_and_flags_are_stronger(run: Run, settings: list[Settings], tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    env = {
        "KARTA_INTERPRETER_PORT": "1",
        "KARTA_INTERPRETER_HOST": "::1",
        "KARTA_INTERPRETER_KARTAS": f"{tmp_path}/a:{tmp_path}/b",
        "KARTA_INTERPRETER_CERTIFICATE_NAME": "one two",
        "KARTA_INTERPRETER_CATALOGUE": "false",
    }

    assert run("serve", "--port", "2", env=env).exit_code == 0
    assert settings == [
        Settings(
            host="::1",
            port=2,
            folders=(tmp_path / "a", tmp_path / "b"),
            certificate_names=("one", "two"),
            catalogue=False,
        )
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--kartas", "no-such-folder"], id="a folder that is missing"),
        pytest.param(["--overrides", "no-such-folder"], id="a folder of scripts that is missing"),
        pytest.param(["--port", "99999"], id="a port that cannot be"),
        pytest.param(["--workers", "2"], id="an option that is gone"),
        pytest.param(["--host", ""], id="a variable that is not set"),
        pytest.param(["--grace-period", "-1"], id="a negative time"),
        pytest.param(["--webhook-timeout", "0"], id="no time for an answer"),
        pytest.param(["--grace-period", "nan"], id="a time that is not a number"),
        pytest.param(["--grace-period", "inf"], id="a time without end"),
        pytest.param(["--certificate-days", "nan"], id="a life that is not a number"),
        pytest.param(["--port", "9000", "--health-port", "9000"], id="one port for two listeners"),
        pytest.param(["--authority-days", "1e7"], id="a life beyond what a certificate can say"),
    ],
)
def test_wrong_settings_are_exit_code_2(run: Run, settings: list[Settings], arguments: list[str]) -> None:
    assert run("serve", *arguments).exit_code == 2
    assert settings == []


@pytest.mark.parametrize("arguments", [["--public-url", "https://a.example"], ["--service", "a/b"]])
def test_registration_that_is_switched_off_ignores_the_rest(
    run: Run, settings: list[Settings], arguments: list[str]
) -> None:
    """A copy of a deployment's arguments with `--no-register` at their end is a server for a look."""
    assert run("serve", *arguments, "--no-register").exit_code == 0
    assert len(settings) == 1


def test_help_shows_a_dozen_settings_and_help_all_the_others(run: Callable[..., Result]) -> None:
    some, every = run("serve", "--help"), run("serve", "--help-all")

    assert (some.exit_code, every.exit_code) == (0, 0)
    names = {option.opts[0] for option in serve.BY_FIELD.values()}
    shown = {name for name in names if re.search(rf"^  {name}\b", some.stdout, re.MULTILINE)}
    assert 10 <= len(shown) <= 14
    assert all(re.search(rf"^  {name}\b", every.stdout, re.MULTILINE) for name in names)
