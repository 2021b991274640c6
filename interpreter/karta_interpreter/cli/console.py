"""``karta-interpreter console``: the console in a browser on this machine."""

import webbrowser
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

import click

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.cli.definitions import cluster_layer, print_findings, snapshot_of, with_cluster
from karta_interpreter.cli.files import check_stdin, read_object, read_texts
from karta_interpreter.cli.options import FOLDER, WholeNumber, file_option, inputs
from karta_interpreter.cli.program import UsageProblem
from karta_interpreter.cli.render import say
from karta_interpreter.clusters.member import WorkloadSelection
from karta_interpreter.clusters.reports import verify_folder
from karta_interpreter.definitions.sources import Snapshot, SourceDefinitions, combine, load_catalogue
from karta_interpreter.web.console.application import ConsoleSources, Texts, run
from karta_interpreter.web.console.catalogue import text_of, to_text

_PORT = 8448

_EXAMPLES = """\b
Examples:
  karta-interpreter console
  karta-interpreter console -f my-karta.yaml --object job.yaml
  karta-interpreter console --no-open --port 0
  karta-interpreter console --from evidence
  karta-interpreter console --context karmada-apiserver
"""


@click.command("console", epilog=_EXAMPLES)
@click.option(
    "--port", type=WholeNumber(0, 65535), default=_PORT, show_default=True, metavar="PORT", help="0 for any free one."
)
@click.option("--open/--no-open", "is_opened", default=True, help="Whether to open a browser.")
@inputs("-f", "--filename", "filenames", text="Definitions and customizations, before those of the catalogue")
@click.option(
    "--kubeconfig", type=click.Path(path_type=Path), metavar="FILE", help="Show the Kartas of this cluster, too."
)
@click.option("--context", metavar="NAME", help="Context of the kubeconfig; alone: of the default kubeconfig.")
@file_option("--object", "path", help='The workload in the editor: file or "-".')
@click.option("--from", "folder", type=FOLDER, metavar="FOLDER", help="Show a folder that `verify --save` wrote.")
def command(
    port: int,
    filenames: tuple[str, ...],
    kubeconfig: Path | None,
    context: str | None,
    path: str | None,
    folder: Path | None,
    *,
    is_opened: bool,
) -> None:
    """Edit a Karta in the browser and see its answers.

    The console listens on loopback and prints its address, which has a token for this run. The first file of -f is in
    the editor; all definitions of -f are in the list of kinds, before those of the cluster and of the catalogue.
    Definitions are read once, at the start. No file is written.
    """
    check_stdin([source for source in (path, *filenames) if source])
    layers = [] if (kubeconfig, context) == (None, None) else [with_cluster(kubeconfig, context, cluster_layer)]
    snapshot = snapshot_of(filenames, below=[*layers, load_catalogue()])
    print_findings(Snapshot(findings=combine(layers).findings, quarantined=snapshot.quarantined))
    if layers and layers[0] == SourceDefinitions():
        say("the cluster has no Kartas; members have none, name the kubeconfig of karmada-apiserver", err=True)
    texts = _texts(snapshot, filenames, path)
    definitions = [entry.definition for entry in snapshot.entries.values()]
    report = verify_folder(folder, definitions, WorkloadSelection()).to_json() if folder else None

    def started(url: str) -> None:
        say(url)
        say("Ctrl-C ends it", err=True)
        if is_opened:
            # In a thread: it waits for a browser in the terminal, and some others, which the console has to answer.
            Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    run(ConsoleSources(snapshot, texts, report), port, started)


def _texts(snapshot: Snapshot, filenames: Sequence[str], path: str | None) -> Texts:
    source, karta = next((pair for filename in filenames for pair in read_texts(filename)), ("", ""))
    if filenames and not karta:
        raise UsageProblem(
            f"error: {', '.join(filenames)}: no definition: it is empty, or a folder without .yaml, .yml or .json"
        )
    entry = next((entry for entry in snapshot.entries.values() if entry.definition.source == source), None)
    obj = None if path is None else read_object(path)
    if obj is not None and not filenames:
        entry = snapshot.entries.get(GVK.of(obj))
        karta = text_of(entry) if entry else ""
    kind = f"{entry.definition.gvk.api_version}/{entry.definition.gvk.kind}" if entry else ""
    if path is None:
        return Texts(karta, kind=kind)
    # The text of a file has its comments. That of stdin is read.
    text = to_text(obj) if path == "-" else next((text for _, text in read_texts(path)), "")
    return Texts(karta, text, kind)
