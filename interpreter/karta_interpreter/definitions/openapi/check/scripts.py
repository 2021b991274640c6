"""The findings about scripts that the OpenAPI schema of a CRD contradicts."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from karta_interpreter.base.findings import Finding, Severity
from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.openapi.catalogue import catalogue_schemas
from karta_interpreter.definitions.openapi.check import contradictions
from karta_interpreter.languages.lua.customization import LoadedCustomization
from karta_interpreter.languages.lua.script_fields import fields_of

# An index or a key in brackets, and the entry of AggregateStatus that has the status of the object: scripts of Karmada
# add two fields to it.
_BRACKETS = re.compile(
    r"""^\[[\w.#+ -]+\](?=\.status\b(?!\.(?:g|resourceTemplateG)eneration\b))|\[(?:"(\w+)"|'(\w+)'|([\w.#+ -]+))\]"""
)


def script_findings(customizations: Iterable[LoadedCustomization], crds: Sequence[Object] | None) -> Iterator[Finding]:
    """Yield what CRDs, or without them the schemas of the catalogue, contradict in scripts: fields and values.

    Without CRDs nothing is said about a kind that the catalogue has no schema of.
    """
    schemas = catalogue_schemas()
    for customization, gvk, script in (
        (loaded, loaded.gvk, script) for loaded in customizations if loaded.gvk for script in loaded.scripts
    ):
        if crds is None and gvk not in schemas:
            continue
        text = re.sub("--.*", "", script.text)
        fields = [field for field in fields_of(script.function, text) if _in_jq(*field).startswith(".")]
        # A Karta that names the same fields, because those of a Karta are compared with CRDs.
        root = {
            "name": "script",
            "kind": {"group": gvk.group, "version": gvk.version, "kind": gvk.kind},
            "suspendDefinition": {
                "suspendActions": [{"path": _in_jq(*field), "value": "null"} for field in fields],
                "resumeActions": [{"path": ".spec", "value": "null"}],
            },
            "statusDefinition": {"statusMappings": {}},
        }
        for finding in contradictions(json.dumps({"spec": {"structureDefinition": {"rootComponent": root}}}), "", crds):
            if finding.rule == "crd-missing":
                yield replace(finding, source=customization.source, path=(), line=customization.line, column=1)
            elif finding.rule in ("crd-unknown-field", "crd-unknown-value", "crd-wrong-type"):
                field, of = fields[int(finding.path[-2])]
                hint = finding.hint.replace("`//`", f"`{field[3]}`").replace("[].", "[i].").replace("[0]", "[1]")
                if not finding.span or finding.span.end > len(_path(of)):  # or the local itself has it
                    yield replace(
                        finding,
                        severity=Severity.WARNING,
                        message=finding.message.replace("its default", "its value").replace(
                            "decides by the types alone", "fails"
                        ),
                        hint=re.sub(r"\(?([^\s`(]+) \| length\)?", r"#\1", hint),
                        source=script.source,
                        path=(),
                        line=script.line_in_source(text.count("\n", 0, field.start(1)) + 1),
                        column=script.column + field.start(1) - text.rfind("\n", 0, field.start(1)) - 1,
                    )


def _in_jq(field: re.Match[str], of: str) -> str:
    path = _path(f"{of}{field[2]}")
    value = json.dumps(field[4][1:-1]) if field[4] and not field[4].isdigit() else field[4]
    operator = "//" if field[3] in ("=", "or") else (field[3] or "").replace("~", "!")
    return f"{path} {operator} {value}" if value and field[0][0] not in "#-+*/%" else path


def _path(steps: str) -> str:
    return _BRACKETS.sub(_step, steps)


def _step(key: re.Match[str]) -> str:
    if name := key[1] or key[2]:
        return f".{name}"
    return "[]" if key[3] else ""
