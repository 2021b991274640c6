"""Options of several commands."""

import math
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import click
from click.shell_completion import CompletionItem

from karta_interpreter.base.findings import SEVERAL_NAMES
from karta_interpreter.base.k8s import MOST_REPLICAS, OF_CLASSES, Counting
from karta_interpreter.base.k8s.request_path import NAME
from karta_interpreter.base.karmada import Operation

Command = Callable[..., None]

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
PATH = click.Path(exists=True, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
WRITABLE_FOLDER = click.Path(exists=True, file_okay=False, writable=True, path_type=Path)
LATER = click.Path(readable=False)
"""A path that the command checks when it reads it. Shells complete it."""
MOST_CLASSES = 256
_COUNT = re.compile(r"[0-9]{1,10}", re.ASCII)


class OutputFolder(click.Path):
    """A folder to write into. An empty path, as from an unset variable, would be the current one."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - click's signature
        """Return the path. An empty one is a usage error."""
        return super().convert(value, param, ctx) if value else self.fail("the path is empty", param, ctx)


class ObjectName(click.types.StringParamType):
    """The name of an object on an API server, of an API group or a kind, or an address.

    An empty name would mean all objects, and Python listens on all addresses for an empty one.
    """

    name = "name"

    def __init__(
        self,
        noun: str = "the name of an object: small letters, digits, - and .",
        pattern: str = NAME,
    ) -> None:
        self.noun, self.pattern = noun, pattern

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401 - click's signature
        """Return the name. Anything else is a usage error."""
        if not re.fullmatch(self.pattern, value):
            several = (
                f"; {SEVERAL_NAMES.format(param.opts[0])}"
                if isinstance(param, click.Option) and param.multiple and "," in value
                else ""
            )
            self.fail(f"{value!r} is not {self.noun}{several}", param, ctx)
        return str(value)


ADDRESS = ObjectName("an address; 0.0.0.0 stands for all", r".+")
API_GROUP = ObjectName(
    "an API group such as run.ai: small letters, digits, - and .",
    rf"(?=.+\.){NAME}",
)
DEVICE_CLASS = ObjectName(
    f"the name of a DeviceClass and an extended resource, as in gpu.nvidia.com=nvidia.com/gpu, or {OF_CLASSES}",
    rf"{OF_CLASSES}|{NAME}=(?!requests\.){NAME}/[A-Za-z0-9]([-\w.]{{0,61}}[A-Za-z0-9])?",
)
KIND = ObjectName('KIND, apiVersion/KIND or "apiVersion/*", such as "apps/v1/*"', r"[^/]+|([^/]+/)?v[0-9][^/]*/[^/]+")


class WholeNumber(click.IntRange):
    """A whole number in a range. An error repeats the value and the range in words, and seconds as their unit."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401 - click's signature
        """Return the number. Anything else is a usage error."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(
                f"{value!r} is not a whole number{_unit(param)} from {self.min} to {self.max}."
                # Into a variable with the name of a Service Kubernetes writes the Service's address.
                + (" Kubernetes has set it: add enableServiceLinks: false to the pod" if "://" in str(value) else ""),
                param,
                ctx,
            )


class Counts(click.ParamType[Any]):
    """``NAME=COUNT,...`` as a mapping of names to whole numbers."""

    name = "counts"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - click's signature
        """Return the counts by name. Anything else is a usage error."""
        counts: dict[str, int] = {}
        for part in value.split(","):
            name, _, count = part.strip().rpartition("=")
            if not name or not _COUNT.fullmatch(count) or name in counts:
                wrong = "is named twice" if name in counts else "is not NAME=COUNT, as worker=8,head=1"
                self.fail(f"{part!r} {wrong}", param, ctx)
            counts[name] = int(count)
        return counts


def device_classes(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the classes of devices. Too many, or a class with two resources, are a usage error."""
    counts = Counter(value.partition("=")[0] for value in set(values))
    for name, times in counts.most_common(1):
        if times > 1:
            raise click.BadParameter(f"{name} has two resources: give one", ctx, param)
    if len(counts) > MOST_CLASSES:
        raise click.BadParameter(f"{len(counts)} classes are given, and {MOST_CLASSES} are read", ctx, param)
    return values


class Decimal(click.FloatRange):
    """A number in a range. click accepts "nan" in any range, because it compares as neither less nor more."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 - click's signature
        """Return the number. Anything else is a usage error."""
        with suppress(click.BadParameter):
            number: float = super().convert(value, param, ctx)
            if not math.isnan(number):
                return number
        return self.fail(
            f"{value!r} is not a number{_unit(param)} {'above' if self.min_open else 'from'} {self.min} to {self.max}.",
            param,
            ctx,
        )


def _unit(param: click.Parameter | None) -> str:
    return f" of {param.metavar.lower()}" if param and param.metavar in ("SECONDS", "DAYS") else ""


# click calls the completers of options with three arguments. A list of words needs only the last one.
def complete_operations(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Return the operations that complete a word, or the last one of a list with commas."""
    before, comma, word = incomplete.rpartition(",")
    return [f"{before}{comma}{operation}" for operation in Operation if operation.lower().startswith(word.lower())]


def complete_kinds(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - as above
    """Return the kinds of the catalogue that complete a word."""
    from karta_interpreter.definitions.karta import catalogue_files  # noqa: PLC0415 - for shells only

    return sorted(
        {name for path in catalogue_files() if (name := path.parent.name).lower().startswith(incomplete.lower())}
    )


def complete_kinds_and_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the kinds of the catalogue that complete a word, or else the files."""
    return [*map(CompletionItem, complete_kinds(ctx, param, incomplete))] or [CompletionItem(incomplete, type="file")]


def output(*forms: str) -> Callable[[Command], Command]:
    """Add the option for the form of the output, by default the first one."""
    return click.option("-o", "--output", type=click.Choice(forms), default=forms[0], help="How to print.")


def only_one(ctx: click.Context, param: click.Parameter, paths: tuple[str, ...]) -> str | None:
    """Return the path of an option that is given once. click alone would take the last of several."""
    if len(paths) > 1:
        raise click.BadParameter(f"one is read, not {' and '.join(paths)}", ctx, param)
    return paths[0] if paths else None


# Options that several commands have with other names or texts.
file_option = partial(click.option, type=LATER, metavar="PATH", multiple=True, callback=only_one)
side_option = partial(click.option, multiple=True, metavar="SIDE", shell_complete=complete_kinds_and_files)
kind_option = partial(click.option, type=KIND, metavar="KIND", multiple=True, shell_complete=complete_kinds)
operation_option = partial(click.option, metavar="NAME", shell_complete=complete_operations)
output_dir_option = partial(click.option, "--output-dir", type=OutputFolder(), metavar="DIR")


def control_plane(function: Command) -> Command:
    """Add the options for the connection to karmada-apiserver."""
    option = partial(click.option, show_envvar=True)
    function = option(
        "--context",
        envvar="KARTA_INTERPRETER_CONTEXT",
        metavar="NAME",
        help="Context of the kubeconfig; default: its current one.",
    )(function)
    file, variable = click.Path(path_type=Path), "KARTA_INTERPRETER_KUBECONFIG"
    return option(
        "--kubeconfig",
        type=file,
        envvar=variable,
        metavar="FILE",
        help="Kubeconfig for karmada-apiserver. Default: in-cluster config, $KUBECONFIG or ~/.kube/config.",
    )(function)


class MemberOptions(NamedTuple):
    """The connection to a member, and the namespaces to read there."""

    kubeconfig: Path | None
    context: str | None
    namespace: str
    all_namespaces: bool


def member_cluster(function: Command) -> Command:
    """Add the options for a member. The command gets them as ``member``."""

    @click.option("--kubeconfig", type=click.Path(path_type=Path), metavar="FILE", help="Kubeconfig of the member.")
    @click.option(
        "--context", metavar="NAME", help="Context of the member in the kubeconfig; default: its current one."
    )
    @click.option("-n", "--namespace", default="", metavar="NAME", help="Namespace; default: that of the context.")
    @click.option("-A", "--all-namespaces", is_flag=True, help="Objects of all namespaces.")
    @wraps(function)
    def reading(**parameters: Any) -> None:  # noqa: ANN401 - values of options
        member = MemberOptions(**{name: parameters.pop(name) for name in MemberOptions._fields})
        function(**parameters, member=member)

    return reading


def inputs(*names: str, text: str) -> Callable[[Command], Command]:
    """Add an option for paths of files and folders, or "-", which may be repeated."""
    text = f'{text}: file, folder or "-"; may be repeated.'
    return click.option(*names, type=LATER, multiple=True, metavar="PATH", help=text)


definitions = inputs("-f", "--filename", "filenames", text="Definitions and customizations instead of the catalogue")
"""The option for definitions, of every command that reads some. A workload is in ``--object``."""


class Sources(TypedDict):
    """The values of the options that `sources` adds."""

    filenames: tuple[str, ...]
    kartas: tuple[Path, ...]
    overrides: tuple[Path, ...]
    catalogue: bool


def sources(function: Command) -> Command:
    """Add the options for the sources of definitions: ``-f``, and those that `serve` has."""
    function = click.option(
        "--catalogue/--no-catalogue", default=True, help="Whether to use the definitions of this package, too."
    )(function)
    function = click.option(
        "--overrides",
        type=PATH,
        multiple=True,
        help="Folder or file of ResourceInterpreterCustomizations that answer before the Kartas; may be repeated.",
    )(function)
    return definitions(
        click.option(
            "--kartas",
            type=PATH,
            multiple=True,
            help="Folder or file of definitions, highest precedence first; may be repeated.",
        )(function)
    )


references = inputs("--reference-file", "references", text="Objects that the definition may look up")
status_file = file_option("--status-file", help="One AggregatedStatusItem per document.")
desired_replica = click.option(
    "--desired-replica", type=WholeNumber(0, MOST_REPLICAS), metavar="N", help="Number for ReviseReplica."
)

components = click.option(
    "--components", type=Counts(), metavar="NAME=COUNT,...", help="All components, for ReviseComponents."
)

QUOTA_ESTIMATE = "Answer as with Karmada's feature gate ResourceQuotaEstimate."
POD_REQUESTS = "Whose formula counts the resources of a pod."
COUNTING = click.Choice([counting.value for counting in Counting])
COUNT_PODS = "A kind whose pods are counted, not its groups, written as for --without"
DEVICE_CLASSES = "What a device of a class counts as in claims of pods, or `auto`: what DeviceClasses say"


def answer_options(function: Command) -> Command:
    """Add the settings of `serve` that change answers. The command gets them as ``options``."""

    @click.option(
        "--device-class",
        "device_classes",
        type=DEVICE_CLASS,
        multiple=True,
        callback=device_classes,
        metavar="CLASS=RESOURCE",
        help=f"{DEVICE_CLASSES}; may be repeated.",
    )
    @kind_option("--count-pods", help=f"{COUNT_PODS}; may be repeated.")
    @click.option("--resource-quota-estimate", is_flag=True, help=QUOTA_ESTIMATE)
    @click.option(
        "--pod-requests", type=COUNTING, default=Counting.SCHEDULER.value, show_default=True, help=POD_REQUESTS
    )
    @wraps(function)
    def answering(**parameters: object) -> None:
        from karta_interpreter.engine.operations import Options  # noqa: PLC0415 - other commands use this module, too

        options = {name: parameters.pop(name) for name in Options.__struct_fields__ if name in parameters}
        function(**parameters, options=Options.of(options))

    return answering


FULL = click.option("--full", is_flag=True, help="Show long values whole.")
GIVE_OBJECT = 'give the object: FILE or --object FILE, "-" for stdin'
NO_OBJECT = f"{GIVE_OBJECT}; -f is for definitions"
