"""The pages of reference that the program gives (commands, settings, metrics), and the values of its charts."""

import re
from collections.abc import Iterable, Iterator
from math import inf
from pathlib import Path
from textwrap import dedent

import click

from deploy import write_readme
from docs.tools.write_catalogue import table
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.cli.program import COMMANDS, NAME, program
from karta_interpreter.cli.serve import OPTIONS
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.budget import Budget
from karta_interpreter.definitions.sources.snapshot import ServedDefinition, Snapshot
from karta_interpreter.languages.lua.script import Script, Scripts
from karta_interpreter.webhook.answering.fights import Fight
from karta_interpreter.webhook.process.metrics import GAUGES, Metrics

DOCS = Path(__file__).parents[1]
WRITTEN_BY = "<!-- written by docs/tools/write_reference.py -->"
_VALUES = sorted(write_readme.CHARTS.glob("*/values.yaml"))


def pages() -> dict[Path, str]:
    """Every page that the repository has, by its path."""
    texts = {"settings": settings(), "metrics": metrics()}
    return {DOCS / f"{name}.md": text for name, text in texts.items()}


def commands() -> str:
    """Return the page of all commands, which only the site has."""
    root = click.Context(program, info_name=NAME)
    found = [(name, program.get_command(root, name)) for name in COMMANDS]
    sections = [section for name, command in found if command for section in _command(command, name, root)]
    return f"""{WRITTEN_BY}
# Commands

`{NAME} COMMAND --help` prints the same in a terminal. [The command line](cli.md) has what holds for all
commands: how options name files, exit codes, completion, the plugin of kubectl.

{"".join(sections).rstrip()}
"""


def settings() -> str:
    """Return the page of the settings of a server."""
    header = ["option and variable", "default", "what"]
    sections = [f"## {title}\n{table(header, map(_setting, options))}" for title, options in OPTIONS.items()]
    return f"""{WRITTEN_BY}
# Settings of the server

Each option of `{NAME} serve` is also an environment variable. An option takes precedence over its variable.
The variable of a switch has its first name, and takes `true` or `false`. In the
variable of an option that may be repeated, colons separate paths, and spaces other values. [The server](server.md)
explains them; the charts [set them from values](install.md).

{chr(10).join(sections)}"""


def values() -> str:
    """Return the page of the values of both charts, which only the site has."""
    tables = {each.parent.name: write_readme.table(each.read_text(encoding="utf-8")) for each in _VALUES}
    sections = [f"## {chart}\n{rows}" for chart, rows in tables.items()]
    return f"""{WRITTEN_BY}
# Values of the charts

[Install](install.md) says which chart is for which cluster, and what most installations set.

{chr(10).join(sections)}"""


def metrics() -> str:
    """Return the page of the metrics of a server."""
    rows = [
        [f"`{name}`", kind, ", ".join(f"`{label}`" for label in labels), what]
        for name, kind, labels, what in sorted(_series())
    ]
    return f"""{WRITTEN_BY}
# Metrics

`GET /metrics` of [the server](server.md#metrics) has these, in the text format of Prometheus. `process_*` are those of
the Prometheus client library.

{table(["metric", "type", "labels", "what"], rows)}"""


def _command(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    """Yield the sections of a command and of those below it."""
    context = click.Context(command, info_name=name, parent=parent)
    path = context.command_path.removeprefix(f"{NAME} ")
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"{'#' * (path.count(' ') + 2)} {path}\n{_prose(command.help)}\n\n```sh\n{usage}\n```\n\n"
    if path == "serve":
        yield "Its options, each with its environment variable: [Settings of the server](settings.md).\n\n"
    elif rows := [[_flags(option), _what(option)] for option in _options(command)]:
        yield f"{table(['option', 'what'], rows)}\n"
    if command.epilog:
        yield f"```sh\n{dedent(command.epilog.split(':', 1)[1].strip(chr(10)))}\n```\n\n"
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            if below := command.get_command(context, each):
                yield from _command(below, each, context)


def _options(command: click.Command | None) -> Iterator[click.Option]:
    yield from (
        (each for each in command.params if isinstance(each, click.Option) and not each.hidden) if command else ()
    )


def _flags(option: click.Option) -> str:
    """Return the names of an option with its metavariable, as code."""
    *short, last = option.opts
    value = "" if option.is_flag else f" {option.make_metavar(click.Context(program))}"
    return ", ".join(f"`{name}`" for name in (*short, f"{last}{value}", *option.secondary_opts))


def _what(option: click.Option) -> str:
    """Return what an option does, with the rest that its help has."""
    extra = option.get_help_extra(click.Context(program))
    facts = [
        *([f"variable `{', '.join(extra['envvars'])}`"] if extra.get("envvars") else []),
        *([f"default `{extra['default']}`"] if extra.get("default") else []),
        *([f"`{extra['range']}`"] if extra.get("range") else []),
        *([extra["required"]] if extra.get("required") else []),
    ]
    return _prose(option.help) + (f" ({'; '.join(facts)})" if facts else "")


def _setting(option: click.Option) -> tuple[str, str, str]:
    """Return option and variable, the default and the meaning of a setting."""
    extra = option.get_help_extra(click.Context(program))
    bounds = f" (`{extra['range']}`)" if extra.get("range") else ""
    default = f"`{extra['default'].removesuffix('.0')}`" if extra.get("default") else ""
    return f"{_flags(option)}<br>`{extra['envvars'][0]}`", default, f"{_prose(option.help)}{bounds}"


def _prose(text: str | None) -> str:
    """Return a help text as Markdown."""
    paragraphs = re.split(r"\n{2,}", dedent((text or "").split("\f")[0]).strip())
    joined = (" ".join(line.strip() for line in each.splitlines()) for each in paragraphs)
    return "\n\n".join(re.sub(r"([*<])", r"\\\1", each) for each in joined)


def _series() -> Iterator[tuple[str, str, list[str], str]]:
    """Yield name, type, labels and meaning of each metric, as a page of a server that has answered has them."""
    shown = Metrics()
    shown.answered("Retain", GVK("batch", "v1", "Job"), 200, 0.1)
    shown.refused(503)
    shown.recorded("written")
    shown.show_budget(Budget())
    for gauge in [name for name in GAUGES if name != "definitions_bytes"]:
        shown.show(gauge, lambda: 0.0)
    fight = Fight("", "", "", "", "", "", "", "", (), begin=0.0, last=0.0, end=inf, retain="")
    shown.fights.present[b""] = {"": fight}
    kind = GVK("example.org", "v1", "Mill")
    scripts = Scripts([Script("Retain", "", "mine")])
    shown.served(Snapshot({kind: ServedDefinition(Definition.of_scripts(kind, scripts), "mine.yaml")}))
    page = shown.render().decode()
    for name, what, kind in re.findall(r"^# HELP (karta_\w+) (.*)\n# TYPE \w+ (\w+)$", page, re.MULTILINE):
        series = re.findall(rf"^{name}(?:_bucket|_sum|_count)?\{{(.*)\}} ", page, re.MULTILINE)
        yield name, kind, _labels(series), what


def _labels(series: Iterable[str]) -> list[str]:
    return sorted({label for each in series for label in re.findall(r"(\w+)=", each)})
