"""The pages of docs/catalogue/: a list of the definitions of the catalogue, and for the site a page of each."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import yaml

from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.cli.catalogue import children_text, component_facts
from karta_interpreter.definitions.karta import Definition, catalogue_kinds, gvk_of
from karta_interpreter.definitions.karta.annotations import ExtraDependency
from karta_interpreter.definitions.karta.definition import Reference
from karta_interpreter.definitions.sources.files import load_catalogue
from karta_interpreter.definitions.sources.snapshot import ServedDefinition
from karta_interpreter.engine.registered.description import describe, gate_text, summarize

DOCS = Path(__file__).parents[1]
FOLDER = DOCS / "catalogue"
KARTA = DOCS / "karta-components.yaml"
OTHER_OBJECTS = DOCS / "other-objects.yaml"
EVERYWHERE = "every kind with pods"
MAKE_NO_PODS = {
    *("AnalysisTemplate", "ApisixRoute", "ConfigMap", "DataVolume", "DestinationRule", "HTTPRoute", "Ingress"),
    *("GRPCRoute", "Gateway", "InferencePool", "ObjectStore", "TCPRoute", "TLSRoute"),
    *("PersistentVolumeClaim", "ResourceClaim", "ResourceClaimTemplate", "Secret", "Service", "ServiceAccount"),
    *("Mapping", "TraefikService", "TriggerAuthentication", "VirtualNode", "VirtualService"),
}
"""Kinds of dependencies that change neither the number nor the requests of the pods that name them."""
LONGEST = 160
WRITTEN_BY = "<!-- written by docs/tools/write_catalogue.py -->"


def pages() -> dict[Path, str]:
    """Return the page that is in the repository, by its path. Its kinds are links to the definitions."""
    return {FOLDER / "README.md": index(map(summarize, _entries()))}


def tables() -> dict[Path, str]:
    """Return the tables that only the site has, by their paths. The repository has the data that they are made from."""
    entries = _entries()
    return {
        FOLDER / "component-names.md": names([*map(describe, entries)]),
        FOLDER / "other-objects.md": other_objects([entry.definition for entry in entries]),
    }


def pages_of_kinds() -> dict[Path, str]:
    """Return the pages that only the site has, by their paths: one for each Karta, by its own version."""
    own = [entry for entry in _entries() if entry.definition.gvk == gvk_of(entry.definition.manifest)]
    return {FOLDER / f"{each['definition']}.md": page(each) for each in map(describe, own)}


def _entries() -> list[ServedDefinition]:
    return sorted(load_catalogue().entries, key=lambda entry: entry.definition.gvk)


def index(summaries: Iterable[Object]) -> str:
    """Return the list of all kinds."""
    rows = [
        [
            linked(each),
            f"`{each['apiVersion']}`",
            each["writtenFrom"],
            ", ".join(each["components"]),
            "yes" if each["suspend"] else "",
            "yes" if each["gang"] else "",
        ]
        for each in summaries
    ]
    head = ["kind", "API version", "written from", "components with pods", "suspend", "gang"]
    return f"""{WRITTEN_BY}
# The catalogue

These {len(rows)} kinds are interpreted as they come. Each definition was written from the API types, the defaults
and the controller of the version that is named; it fits other versions as far as these are the same in them.
`karta-interpreter catalogue list` prints this list, `catalogue show KIND` describes a kind, and `catalogue export` the
Kartas themselves. How each of them was tested: the suites in `testdata` next to it. Where the components have other
names than in Karta's own catalogue: [component names](../karta-components.yaml). A version with `+` and a hash is a
commit after it. `suspend` marks kinds that can be suspended and resumed, and `gang` those with pods that are scheduled
together. [migrate.md](../migrate.md) compares answers with Karmada's own.

HyperJob of Volcano is not in it: volcano-global makes Volcano Jobs and their policies of it on Karmada's control plane,
so Karmada never asks about a HyperJob, only about these Jobs.

{table(head, rows)}"""


def names(found: Sequence[Object]) -> str:
    """Return the page of component names that differ from those of Karta's own catalogue."""
    theirs = yaml.safe_load(KARTA.read_text(encoding="utf-8"))
    ours = {f"{each['apiVersion']}/{each['kind']}": each for each in found}
    if unknown := theirs.keys() - ours.keys():
        raise SystemExit(f"{KARTA.name}: the catalogue has no {', '.join(sorted(unknown))}")
    rows = [
        [linked(description), f"`{description['apiVersion']}`", *only]
        for kind, description in ours.items()
        if kind in theirs and any(only := differing([part["name"] for part in description["components"]], theirs[kind]))
    ]
    return f"""{WRITTEN_BY}
# Component names compared with Karta's own catalogue

A program that was written for the definitions of Karta's own catalogue finds components by their names.
Karta's catalogue (as of September 2026) has {len(theirs)} of the {len(ours)} kinds here.
{len(theirs) - len(rows)} of them have the same component names. The others:

{table(["kind", "API version", "names only here", "names only in Karta's catalogue"], rows)}"""


def other_objects(definitions: Sequence[Definition]) -> str:
    """Return the page of objects from which pods are made, or requests come: looked up, or the reason why not."""
    reasons = yaml.safe_load(OTHER_OBJECTS.read_text(encoding="utf-8"))
    kinds = {f"{definition.gvk.api_version}/{definition.gvk.kind}": definition for definition in definitions}
    if unknown := reasons.keys() - kinds.keys() - {EVERYWHERE}:
        raise SystemExit(f"{OTHER_OBJECTS.name}: the catalogue has no {', '.join(sorted(unknown))}")
    rows = [[EVERYWHERE, code(each["field"]), each["names"], each["reason"]] for each in reasons[EVERYWHERE]]
    for kind, definition in kinds.items():
        found = {reference.gvk.kind for reference in definition.references}
        left = reasons.get(kind, ())
        explained = {name for each in left for name in each["names"].split(", ")}
        if explained & found:
            raise SystemExit(f"{OTHER_OBJECTS.name}: {kind} looks up {', '.join(sorted(explained & found))}")
        named = explained | found | MAKE_NO_PODS
        wanted = {rule.kind for rule in definition.annotations.dependencies if isinstance(rule, ExtraDependency)}
        if unexplained := wanted - named if any(part.pods for part in definition.components) else ():
            raise SystemExit(
                f"{OTHER_OBJECTS.name}: {kind} names {', '.join(sorted(unexplained))}: look it up, or say why not"
            )
        link = f"[{definition.gvk.kind}]({_file(definition.gvk)})"
        rows += [[link, code(looked_up_by(each)), each.gvk.kind, "looked up"] for each in definition.references]
        rows += [[link, code(each["field"]), each["names"], each["reason"]] for each in left]
    return f"""{WRITTEN_BY}
# Objects from which pods are made

Fields of a workload that name another object from which its pods are made, or their requests come. An answer has what
[can be looked up](../authoring.md#other-objects), and without the rest what the workload itself says. Objects that a
pod only needs to start are [dependencies](../operations.md#interpretdependency), and not in this list.

{table(["kind", "field", "names", "looked up"], once(rows))}"""


def looked_up_by(reference: Reference) -> str:
    """Return the expression with the names of the objects, or the labels of a list."""
    labels = ", ".join(rule.key for rule in reference.labels)
    return " ".join(reference.lookup.text.split()) if reference.lookup else f"all without the label {labels}"


def differing(ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, str]:
    """Return the names that only one of two definitions has."""
    return ", ".join(name for name in ours if name not in theirs), ", ".join(
        name for name in theirs if name not in ours
    )


def page(description: Object) -> str:
    """Return the page of one kind."""
    kind, api_version = description["kind"], description["apiVersion"]
    source = f", written from {description['writtenFrom']}" if description["writtenFrom"] else ""
    components = [[f"**{part['name']}**", *fact] for part in description["components"] for fact in component(part)]
    statuses = [[each["status"], code(each["when"])] for each in description["statuses"]]
    sections = [
        f"{WRITTEN_BY}\n# {kind}\n\n`{api_version}`{source}: [the definition]({file_of(description)}).",
        f"```mermaid\n{diagram(description)}```",
        f"## Components\n{table(['component', 'what', 'where'], once(components))}",
        f"## Operations\n{operations(description)}",
        f"## Statuses\n{table(['status', 'when'], once(statuses))}\n{healthy(description)}",
        f"## Other properties\n{table(['about', 'what'], besides(description))}",
    ]
    return "\n\n".join(section.strip() for section in sections) + "\n"


def linked(description: Object) -> str:
    """Return the kind as a link to its definition. On the site it leads to the page of the kind."""
    return f"[{description['kind']}]({file_of(description)})"


def file_of(description: Object) -> str:
    """Return the path of a definition from the pages of the catalogue."""
    return _file(GVK.of(description))


def _file(gvk: GVK) -> str:
    path = catalogue_kinds().get(gvk)
    if path is None:
        raise SystemExit(
            f"{gvk.api_version} {gvk.kind}: the definition is not in the folder of this kind below kartas/"
        )
    return "/".join(("../../kartas", *path.parts[-4:]))


def diagram(description: Object) -> str:
    """Return the components as a Mermaid flowchart: boxes with a double side have pods, thick ones are elastic."""
    lines = ["flowchart LR", "  classDef elastic stroke-width:3px"]
    for number, part in enumerate(description["components"]):
        left, right = ("[[", "]]") if "pods" in part else ("[", "]")
        lines.append(f'  c{number}{left}"{label(part)}"{right}{":::elastic" if "elastic" in part else ""}')
    numbers = {part["name"]: number for number, part in enumerate(description["components"])}
    for part in description["components"]:
        if "ownerRef" in part:
            each = '|"one for each"| ' if "instances" in part else " "
            lines.append(f"  c{numbers[part['ownerRef']]} -->{each}c{numbers[part['name']]}")
    return "\n".join(lines) + "\n"


def label(part: Object) -> str:
    """Return the text in a component's box."""
    kind, replicas = part.get("kind", ""), part.get("replicas", "")
    count = f"{replicas} pod{'' if replicas == '1' else 's'}" if replicas.isdigit() else ""
    return "<br/>".join(text for text in (part["name"], kind if kind.lower() != part["name"] else "", count) if text)


def component(part: Object) -> Iterator[list[str]]:
    """Yield the facts about a component."""
    for name, value in component_facts(part):
        yield [name, value if name in ("kind", "part of", "elastic") else code(value)]


def operations(description: Object) -> str:
    """Return the operations that are registered with Karmada."""
    text = f"{', '.join(description['operations'])}."
    if description["scripts"]:
        text += f" A script answers {', '.join(description['scripts'])}."
    if gate_text(description):
        text += f" With Karmada's feature gate MultiplePodTemplatesScheduling {gate_text(description)}."
    return text


def healthy(description: Object) -> str:
    """Return when InterpretHealth answers true."""
    if "karta-interpreter.io/health" in description["annotations"]:
        return f"Healthy by an expression: {code(*description['healthy'])}."
    return f"[Healthy](../health.md) while {', '.join(description['healthy'])}."


def besides(description: Object) -> Iterator[list[str]]:
    """Yield further facts."""
    if description["references"]:
        yield ["looks up", ", ".join(map(code, description["references"]))]
    yield ["suspend", "<br>".join(map(code, description["suspend"])) or "the CRD has no such thing"]
    yield ["resume", "<br>".join(map(code, description["resume"])) or "likewise"]
    yield ["gang", "<br>".join(map(code, description["gangScheduling"])) or "none"]
    yield ["retains", "<br>".join(map(code, description["retain"])) or "counts only"]
    if description["queueLabels"]:
        yield ["queued by the label", ", ".join(map(code, description["queueLabels"]))]
    yield ["dependencies", ", ".join(description["dependencies"]) or "what its pods name"]
    yield ["creates", children_text(description) or "nothing else"]


def once(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    """Yield the rows with what their first cell has in common said once."""
    named = ""
    for name, *cells in rows:
        yield ["" if name == named else name, *cells]
        named = name


def code(text: str) -> str:
    """Return an expression as Markdown, cut where it gets long."""
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return f"`{shown}`"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)
