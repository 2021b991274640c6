"""``karta-interpreter types-api``: registers types of workloads over HTTP."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, cast

import click

from karta_interpreter.base.errors import InterpreterError
from karta_interpreter.cli.options import ADDRESS, FILE, WRITABLE_FOLDER, WholeNumber
from karta_interpreter.cli.serve import BY_FIELD, OPTIONS as SERVER, SettingsCommand, failed, setting
from karta_interpreter.definitions.karta import karta_api_group
from karta_interpreter.web.types_api.api import run
from karta_interpreter.web.types_api.settings import TypesSettings

_setting = partial(setting, of=TypesSettings())

OPTIONS: Final[Mapping[str, Sequence[click.Option]]] = {
    "Listening": [
        _setting("host", ADDRESS, "Address to listen on; with TLS unless it is loopback.", "ADDRESS"),
        _setting("port", WholeNumber(0, 65535), "Port to listen on; 0 for any free one.", "PORT"),
        BY_FIELD["certificate_file"],
        BY_FIELD["key_file"],
    ],
    "Types": [
        _setting("types_folder", WRITABLE_FOLDER, "Where to store types without --cluster.", "FOLDER"),
        _setting("types_token_file", FILE, "Bearer tokens, one on each line, each with a name.", "FILE"),
        _setting("types_categories", str, "A category of types", "NAME", flag="--types-category"),
        _setting("types_priorities", str, "A priority of types", "NAME=VALUE", flag="--types-priority"),
    ],
    "Definitions": SERVER["Definitions"],
    "Karmada": [BY_FIELD["kubeconfig"], BY_FIELD["context"]],
    "Log": [BY_FIELD["log_level"]],
}
"""The options by subject. Most of them are options of `serve`, too."""


def types_api(**settings: object) -> None:
    """Register types of workloads over HTTP.

    Types are stored as Kartas on karmada-apiserver, which a server with --cluster serves, or in a folder, which a
    server with --kartas serves. The list of types shows the definitions that are given here.
    """
    api_settings = TypesSettings(**cast("dict[str, Any]", settings))
    try:
        with karta_api_group(api_settings.karta_api_group):
            run(api_settings)
    except InterpreterError as error:
        raise failed(error) from error


command = SettingsCommand("types-api", OPTIONS, types_api)
