"""Warnings about definitions that Karta's admission webhook accepts, but that do not work as they seem to."""

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from karta_interpreter.base.findings import Finding, closest, error, in_ascii, warning
from karta_interpreter.base.k8s import QUALIFIED_NAME, Path, grouped, parts_within
from karta_interpreter.base.karmada import COUNTING_OPERATIONS, Operation
from karta_interpreter.definitions.karta.annotation_records import ANNOTATIONS, Annotations
from karta_interpreter.definitions.karta.annotations import Retained, annotation_path
from karta_interpreter.definitions.karta.catalogue import catalogue_kinds
from karta_interpreter.definitions.karta.compile import action_value
from karta_interpreter.definitions.karta.expression_text import ids_meant
from karta_interpreter.definitions.karta.expressions import (
    Parsed,
    compares_alternative,
    fields_read,
    in_one_word,
    is_boolean,
    matching_text,
    names_places,
    open_choices,
    reads_object,
    selections,
    several,
    shared_default,
    takes_number,
    useless_defaults,
    without_default,
)
from karta_interpreter.definitions.karta.identity import REFERENCES, ROOT, ROOT_KIND, ROOT_STATUS, STRUCTURE, api_group
from karta_interpreter.definitions.karta.misread import failing_parts, misread_parts
from karta_interpreter.definitions.karta.model import (
    ComponentDefinition,
    GroupVersionKind,
    KartaResource,
    PodSelector,
    ScaleDefinition,
    StatusDefinition,
    StatusMatcher,
    StructureDefinition,
    SuspendAction,
)
from karta_interpreter.definitions.karta.rules import violation
from karta_interpreter.definitions.karta.schema_types import expressions_of
from karta_interpreter.definitions.karta.status_rules import AT_WORK, MATCHING_ORDER, Status
from karta_interpreter.definitions.karta.validation import repeated
from karta_interpreter.languages.jq import render
from karta_interpreter.languages.lua.customization import misspelt

_LONGEST_VALUE = 80
_OWN = ("podTemplateSpecPath", "podSpecPath", "replicasPath")  # the fields of what no other component has
_INNER = re.compile(r"\.\w+\W+\w[^|]*")  # a path below a part of the spec
# Atomic groups never look for another begin: a definition may be long.
_BARE_TYPE = re.compile(r'(?!.*\.(?:status|reason)\b(?!\.))(?>.*?conditions)(?>.*?\.type == "(\w+)").*', re.DOTALL)
_LABEL_MEANT = re.compile(r'\["([^"]+)"\]|(?<![-\w])([-\w]*\w)\W*$')  # a key in a path, or the last word
_SPELLED = {"true": "True", "false": "False", "unknown": "Unknown"}
_OF_POD = re.compile(r"[][.\w]*\.((initC|c)ontainers(\[\])?|metadata)")  # parts of a pod, as the end of a path
_OTHER_OBJECT = {"podSelector", "gangScheduling", "namesExpression"}  # fields with expressions about another object
# The least and the most replicas, by the names of their fields.
_SWAPPED = re.compile(r"[^/]*\.max[^./\n]*(//.*)?\n[^/]*\.min[^./\n]*(//.*)?", re.IGNORECASE)
_CONSTANTS = re.compile(r"(?>(?:.*//)?) *(\d{1,9})\n(?>(?:.*//)?) *(\d{1,9})")  # two bounds, or their defaults
# The pieces of a pod that are one text, in fields by their own names.
_PIECES = ("image", "schedulerName", "priorityClassName")
# Paths that end at another part than their fields take, by the fields, with what to write.
_MISPLACED_ENDS = {
    **{f"{piece}Path": (rf"(.*\.)({'|'.join({*_PIECES} - {piece})})", rf"\1{piece}") for piece in _PIECES},
    "resourcesPath": (r"(.*)\.(requests|limits)", r"\1"),
    "path": (r"(\.status\.\w*[cC]onditions)\[-?\d+\]", r"\1"),
    "podTemplateSpecPath": (r"(.*[tT]emplate)\.spec", r"\1"),
    "metadataPath": (r"(.*[mM]etadata)\.(labels|annotations)", r"\1"),
    "labelsPath": (r"(.*[mM]etadata)(?:\.annotations)?", r"\1.labels"),
    "annotationsPath": (r"(.*[mM]etadata)(?:\.labels)?", r"\1.annotations"),
    "containersPath": (r"(.*[cC]ontainers)\[-?\d*\]", r"\1"),
    "containerPath": (r"(.*[cC]ontainers)", r"\1[0]"),
    "nodeAffinityPath": (r"(.*\.affinity)(?:\.podAffinity)?", r"\1.nodeAffinity"),
    "podAffinityPath": (r"(.*\.affinity)(?:\.nodeAffinity)?", r"\1.podAffinity"),
    "resourceClaimsPath": (r"(.*[cC]laims)\[-?\d*\]", r"\1"),
}
_FIELD = re.compile(r"\.(\w+)")
_AROUND = " \t\n\"'"  # blanks and quotes of a text that was pasted
_IN_QUOTES = re.compile(r"""\A(["'])(.*)\1\Z""", re.DOTALL)
_PARTS = ("type", "status", "reason", "message")  # of a condition
_REVISE = "ReviseReplica"
_COUNTING = COUNTING_OPERATIONS | {_REVISE}
_REPORTED = ((*ROOT_STATUS, "phaseDefinition", "path"), (*ROOT_STATUS, "conditionsDefinition", "path"))


def lint(karta: KartaResource, parsed: Sequence[Parsed], annotations: Annotations) -> Iterator[Finding]:
    """Yield suspicious parts: in usable expressions, and in the components that ReviseReplica may change."""
    structure = karta.spec.structure_definition
    counted = {path for path, _ in structure.counted}
    for path, component in structure.components:
        is_replicator = component.pod_selector is not None and component.pod_selector.replica_selector is not None
        # The count of a component that replicates others is the number of gangs.
        if component.scale_definition is not None and not is_replicator and path not in counted:
            yield violation("scale-without-pods", (*path, "scaleDefinition"), name=component.name)
        yield from _component(path, component, component.pod_selector or PodSelector())
    for path, child in structure.components[1:]:
        rules = {
            ("child-kind-incomplete", "kind"): child.kind and not (child.kind.version and child.kind.kind),
            ("child-status-unused", "statusDefinition"): child.status_definition is not None,
            ("child-suspends", "suspendDefinition"): child.suspend_definition is not None,
        }
        yield from (violation(rule, (*path, field)) for (rule, field), is_broken in rules.items() if is_broken)
    kinds: dict[Path, GroupVersionKind] = {
        **{(*path, "kind"): component.kind for path, component in structure.components if component.kind},
        **{(*STRUCTURE, "additionalChildKinds", at): kind for at, kind in enumerate(structure.additional_child_kinds)},
        **{(*REFERENCES, at, "gvk"): reference.gvk for at, reference in enumerate(structure.references)},
    }
    for path, kind in kinds.items():
        spelling = misspelt(kind.group, kind.kind, [gvk for gvk in catalogue_kinds() if gvk.group == kind.group]) or (
            kind.version
            if re.fullmatch(r"v\d\w*", kind.kind)
            else kind.kind.removesuffix("s").capitalize()
            if kind.kind[:1].islower()
            else ""
        )
        if spelling:
            yield violation("kind-of-resource", (*path, "kind"), kind=kind.kind, meant=spelling)
        if meant := _meant_group(kind, is_root=path == ROOT_KIND):
            yield violation("unknown-group", (*path, "group"), kind=kind.kind, group=kind.group, meant=meant)
        yield from (
            warning(
                "name-invalid",
                (*path, field),
                f'"{name}" is not a name that Kubernetes accepts',
                f"write {'the version alone, such as v1' if '/' in name else 'lower-case letters, digits, - and .'}",
            )
            for field, name, signs in (
                ("group", kind.group, "[a-z0-9.*/-]*"),
                ("version", kind.version, "[a-z0-9.*-]*"),
            )
            if not re.fullmatch(signs, name)
        )
    yield from _of_texts(karta, annotations)
    yield from _leaves(structure, annotations)
    yield from (
        violation("unused-annotation", annotation_path(annotation.name))
        for annotation in ANNOTATIONS
        if annotations.operations and annotation.is_set(annotations) and annotation.name != "lua"
        if annotation.read_by and annotation.read_by.isdisjoint(annotations.operations)
    )
    written = "\n".join((*(text for _, text in expressions_of(karta.spec, ())), *karta.annotations.values()))
    yield from (
        violation("reference-unread", (*REFERENCES, index, "name"), name=name)
        for index, name in enumerate(reference.name.removeprefix("$") for reference in structure.references)
        if not re.search(rf"\${re.escape(name)}(?!\w)", written)
    )
    if structure.root_component.status_definition is not None:
        yield from _status(structure.root_component.status_definition, parsed, annotations)
    yield from _expressions(structure, parsed, annotations)


def _of_texts(karta: KartaResource, annotations: Annotations) -> Iterator[Finding]:
    texts = [
        *parts_within({"spec": karta.spec.model_dump(mode="json", by_alias=True)}),
        *((annotation_path(query.annotation), query.text) for query in annotations.queries()),
    ]
    for path, text in texts:
        if isinstance(text, str) and not text.isascii() and (better := in_ascii(text)).isascii():
            signs = ", ".join(sorted({f"U+{ord(sign):04X}" for sign in text if not sign.isascii()}))
            yield violation(
                "letter-alike", path, text=text[:_LONGEST_VALUE], signs=signs, better=_IN_QUOTES.sub(r"\2", better)
            )


def _meant_group(kind: GroupVersionKind, *, is_root: bool) -> str:
    """Return the group of a kind if the given one looks wrong, else ""."""
    if not is_root and re.fullmatch(r"(v\d\w*)?", kind.group):
        return kind.group and '""'
    groups = sorted({gvk.group for gvk in catalogue_kinds() if gvk.kind == kind.kind})
    # The group of a CRD has a dot, and that of Kartas has no kind of the catalogue.
    others = groups if "." not in kind.group or kind.group == api_group() else ()
    return "" if kind.group in groups else closest(kind.group, groups) or " or ".join(others)


def _component(path: Path, component: ComponentDefinition, selector: PodSelector) -> Iterator[Finding]:
    spec, scale, kind = component.spec_definition, component.scale_definition, selector.component_type
    fragments = spec and spec.fragmented_pod_spec_definition
    bounds = f"{scale.min_replicas_path}\n{scale.max_replicas_path}" if scale else ""
    rules = {
        ("bounds-swapped", "scaleDefinition", "minReplicasPath"): (
            _SWAPPED.fullmatch(bounds)
            or ((constants := _CONSTANTS.fullmatch(bounds)) and int(constants[1]) > int(constants[2]))
        ),
        ("pods-empty", "specDefinition"): spec and not spec.model_fields_set,
        ("scale-empty", "scaleDefinition"): scale and not scale.model_fields_set,
        ("fragments-empty", "specDefinition", "fragmentedPodSpecDefinition"): (
            fragments and not fragments.model_fields_set
        ),
        ("metadata-path-unused", "specDefinition", "metadataPath"): (
            spec and spec.metadata_path is not None and spec.pod_spec_path is None
        ),
    }
    yield from (violation(rule, (*path, *at)) for (rule, *at), is_broken in rules.items() if is_broken)
    at = (*path, "podSelector", "componentTypeSelector")
    of_label = [(("value",), kind.value)] if kind and kind.value and ".labels" in str(kind.key) else []
    yield from (
        violation("matcher-never", (*at, *place), noun="a label", text=text, better=better[1] or better[2])
        for place, text in (*of_label, *((("matchLabels", key), key) for key in (kind.labels if kind else ())))
        if not QUALIFIED_NAME.fullmatch(text) and (better := _LABEL_MEANT.search(text or "role"))
    )
    if component.suspend_definition is not None:
        at = (*path, "suspendDefinition")
        yield from _actions((*at, "suspendActions"), component.suspend_definition.suspend_actions)
        yield from _actions((*at, "resumeActions"), component.suspend_definition.resume_actions)
        # A suspension that changes nothing, and one that stays.
        resumed = {str(action.path): str(action.value) for action in component.suspend_definition.resume_actions}
        for index, action in enumerate(component.suspend_definition.suspend_actions):
            text = str(action.path)
            if resumed.get(text, str(action.value)) == str(action.value):
                rule = "suspend-is-resume" if text in resumed else "suspend-stays"
                yield violation(rule, (*at, "suspendActions", index), text=text)
            elif str(action.value) == "false" and re.search(r"\.(suspend|pause|stop|halt|disable)(p?ed|d)?$", text):
                yield violation("suspend-inverted", (*at, "suspendActions", index), text=text)


def _actions(path: Path, actions: Iterable[SuspendAction]) -> Iterator[Finding]:
    for index, action in enumerate(actions):
        try:
            action_value(action)
        except ValueError:
            yield violation("suspend-value-not-json", (*path, index, "value"), shown=str(action.value)[:_LONGEST_VALUE])


def _leaves(structure: StructureDefinition, annotations: Annotations) -> Iterator[Finding]:
    leaves = structure.counted
    # A kind without pods, such as a source of manifests, leaves these operations out.
    if not leaves and not _COUNTING.isdisjoint(annotations.operations or _COUNTING):
        yield violation("no-pods", ROOT)
    by_selector: dict[Hashable, str] = {}
    by_path: dict[str, str] = {}
    for path, leaf in leaves if len(leaves) > 1 else ():
        yield from (
            violation("path-copied", at, text=text, name=leaf.name, first=by_path[text])
            for at, text in expressions_of(leaf, path)
            if at[-1] in _OWN and _INNER.fullmatch(text) and by_path.setdefault(text, leaf.name) != leaf.name
        )
        kind = leaf.pod_selector.component_type if leaf.pod_selector else None
        if kind is None:
            yield violation("type-selector-missing", path, name=leaf.name)
            continue
        labels = frozenset(kind.labels.items())
        # A pod belongs to the first component that recognises it. A component without a value recognises any.
        first = by_selector.get((kind.key, None, labels)) or by_selector.setdefault(
            (kind.key, kind.value, labels), leaf.name
        )
        if first != leaf.name:
            yield violation("type-selector-repeated", (*path, "podSelector"), name=leaf.name, first=first)


def _status(definition: StatusDefinition, parsed: Sequence[Parsed], annotations: Annotations) -> Iterator[Finding]:
    status_of: dict[StatusMatcher, Status] = {}
    spellings: dict[str, tuple[str, Status]] = {}
    by_path = {expression.path: expression for expression in parsed}
    for expression in filter(None, map(by_path.get, _REPORTED)):
        if several(expression.node):
            yield _about("several-in-status", expression)
        elif (read := fields_read(expression.node)) and "status" not in read:
            yield _about("status-not-reported", expression, fields=" and ".join(sorted(read)))
    yield from (
        violation(
            "path-misread", (*ROOT_STATUS, "conditionsDefinition", f"{part}FieldName"), written=name, better=better
        )
        for part, name in (
            (field.removesuffix("_field_name"), name) for field, name in definition.conditions_definition or ()
        )
        if part != "path" and name
        if name != (better := part if name in _PARTS else name.strip(".[]"))
    )
    for status in MATCHING_ORDER:
        matchers = getattr(definition.status_mappings, status.lower())
        place = (*ROOT_STATUS, "statusMappings", status.lower())
        yield from (violation("matcher-repeated", (*place, index)) for index, _ in repeated(matchers))
        for index, matcher in enumerate(matchers):
            at = (*place, index)
            yield from _matcher(at, matcher, definition, by_path.get((*at, "byExpression", "expression")))
            test = _by_phase(matcher, definition)
            if status_of.setdefault(test, status) is not status:
                yield _two_statuses(at, test, status_of[test], status)
            first, first_status = spellings.setdefault(matcher.by_phase.lower(), (matcher.by_phase, status))
            if first != matcher.by_phase and first_status is not status:
                yield violation("phases-alike", (*at, "byPhase"), text=matcher.by_phase, first=first)
    if not status_of:
        yield violation("status-mappings-empty", (*ROOT_STATUS, "statusMappings"))
    asked = (annotations.operations or frozenset(Operation)) - annotations.lua.operations
    by_mappings = Operation.INTERPRET_HEALTH in asked and not (annotations.health or annotations.healthy_statuses)
    if status_of and by_mappings and AT_WORK.isdisjoint(status_of.values()):
        yield violation("never-healthy", (*ROOT_STATUS, "statusMappings"))


def _by_phase(matcher: StatusMatcher, definition: StatusDefinition) -> StatusMatcher:
    """Return the matcher of a phase if one by an expression compares the phase and nothing else."""
    test, path = matcher.by_expression, definition.phase_definition.path if definition.phase_definition else ""
    phase = test and re.fullmatch(rf'{re.escape(path)} *(?:== *"(\w+)")?', test.expression)
    return (
        StatusMatcher(byPhase=phase[1] or test.expected_result)
        if test
        and phase
        and matcher == StatusMatcher(byExpression=test)
        and (not phase[1] or test.expected_result == "true")
        else matcher
    )


def _two_statuses(path: Path, matcher: StatusMatcher, *both: Status) -> Finding:
    message, hint = f"{matcher.by_phase or 'the same matcher'} means both {' and '.join(both)}", "keep it in one list"
    # A failed workload is never healthy, and Karmada evicts unhealthy ones.
    if matcher.by_phase and Status.FAILED in both and AT_WORK.intersection(both):
        return error("matcher-in-two-statuses", path, message, hint)
    return warning("matcher-in-two-statuses", path, message, f"{hint}, or add conditions that differ")


def _matcher(
    path: Path, matcher: StatusMatcher, definition: StatusDefinition, test: Parsed | None
) -> Iterator[Finding]:
    phase, phases, conditions = matcher.by_phase, definition.phase_definition, definition.conditions_definition
    rules = {
        ("matcher-empty",): not (phase or matcher.by_conditions or matcher.by_expression),
        ("matcher-never", "byPhase"): phases and phases.path.endswith("ascii_downcase") and phase != phase.lower(),
        ("phase-is-expression", "byPhase"): re.search(r"^\.|[=!]=", phase),
        ("phases-in-one", "byPhase"): re.match(r"(?s)(?!\.|.*[=!]=).*?(?:\w[,|] *\w|[*!^$]|^/.*/$)", phase),
        ("phase-definition-missing", "byPhase"): phase and phases is None,
        ("conditions-definition-missing", "byConditions"): matcher.by_conditions and conditions is None,
    }
    words = {"noun": "a phase", "text": phase, "better": phase.lower()}
    yield from (violation(rule, (*path, *at), **words) for (rule, *at), is_broken in rules.items() if is_broken)
    yield from (
        violation("condition-repeated", (*path, "byConditions", index), type=name)
        for index, name in repeated(condition.type for condition in matcher.by_conditions)
    )
    yield from (
        violation("matcher-never", (*path, *place), noun=noun, text=text, better=better)
        for place, noun, text, better in _compared(matcher, test)
        if text != better
    )
    has_status = conditions is None or conditions.status_field_name
    yield from (
        violation("condition-status-unread", (*path, "byConditions", index, "status"), type=condition.type)
        for index, condition in enumerate(matcher.by_conditions)
        if condition.status and not has_status
    )
    yield from (
        violation("condition-without-status", (*path, "byConditions", index), type=condition.type)
        for index, condition in enumerate(matcher.by_conditions)
        if not condition.status and not condition.reason and has_status
    )


def _compared(matcher: StatusMatcher, test: Parsed | None) -> Iterator[tuple[Path, str, str, str]]:
    """Yield the texts of a matcher: its path, its noun, itself, and a text that can match."""
    phase = matcher.by_phase
    if "=" not in phase:  # an expression, which has a finding of its own
        yield ("byPhase",), "a phase", phase, phase and (phase.strip(_AROUND) or "PHASE")
    for index, condition in enumerate(matcher.by_conditions):
        at, status = ("byConditions", index), condition.status.strip()
        yield (*at, "type"), "the type of a condition", condition.type, in_one_word(condition.type) or "Ready"
        yield (*at, "reason"), "the reason of a condition", condition.reason, in_one_word(condition.reason)
        yield (
            (*at, "status"),
            "the status of a condition",
            condition.status,
            closest(status, _SPELLED.values()) or (status and "True"),
        )
    if matcher.by_expression and test:
        expected = matcher.by_expression.expected_result
        noun = "a comparison" if is_boolean(test.node) else "the text of this result"
        yield ("byExpression", "expectedResult"), noun, expected, matching_text(test.node, expected)


def _expressions(
    structure: StructureDefinition, parsed: Sequence[Parsed], annotations: Annotations
) -> Iterator[Finding]:
    """Check for expressions that are allowed but do not give the answer that they seem to give."""
    yield from _values(parsed, annotations)
    # The path of the root component has one step less than the path of another one.
    by_component = grouped(
        (expression.path[: 3 if ROOT[2] in expression.path else 4], expression) for expression in parsed
    )
    changing = _changing(structure, annotations)
    owned = [rule.place.node for rule in annotations.retain if isinstance(rule, Retained) and rule.condition is None]
    retained = {render(without_default(node)) for node in owned}
    counts = [str(component.scale_definition) for _, component in structure.components if component.name in changing]
    yield from (
        violation("count-not-divided", annotation_path("divided"), text=rule.of.text)
        for rule in annotations.divided
        if changing and not any(name in _FIELD.findall(" ".join(counts)) for name in _FIELD.findall(rule.of.text)[-1:])
    )
    for path, component in structure.components:
        usable = {expression.path[len(path) :]: expression for expression in by_component.get(path, ())}
        for at, expression in usable.items():
            if at and at[0] in ("specDefinition", "scaleDefinition"):
                yield from _per_instance(component, expression, usable.get(("instanceIdPath",)))
            if "podSelector" in at:
                yield from _selector(expression, component.pod_selector or PodSelector())
            if "suspendDefinition" in at:
                yield from (
                    _about(rule, expression, text=expression.text)
                    for rule, holds in (
                        ("suspend-path-not-writable", not names_places(expression.query)),
                        ("status-not-sent", fields_read(expression.node) == {"status"}),
                    )
                    if holds
                )
        for added in (
            containers for containers in annotations.added_containers if containers.component == component.name
        ):
            expression = Parsed(annotation_path("added-containers"), added.query.text, added.query.node)
            yield from _per_instance(component, expression, usable.get(("instanceIdPath",)) if added.each else None)
        yield from (
            violation("retains-all", annotation_path("retain"), text=text, kept=f"all pods of {component.name}")
            for at in (("specDefinition", "podTemplateSpecPath"), ("specDefinition", "podSpecPath"))
            if at in usable and (text := render(without_default(usable[at].node))) in retained
        )
        # If nothing scales a component, its expression need not be writable.
        if component.name in changing:
            yield from _scale_places(component, changing[component.name], usable, retained)


def _values(parsed: Sequence[Parsed], annotations: Annotations) -> Iterator[Finding]:
    own = [expression for expression in parsed if _OTHER_OBJECT.isdisjoint(expression.path)]
    health = annotations.health
    if health and (bare := _BARE_TYPE.fullmatch(render(health.node))):
        yield violation("condition-without-status", annotation_path("health"), type=bare[1])
    if health and several(health.node):
        yield violation("health-not-boolean", annotation_path("health"), text=health.text)
    for query in annotations.queries():
        yield from _value(Parsed(annotation_path(query.annotation), query.text, query.node), of_count=False)
    for expression in own:
        yield from _value(expression, of_count="scaleDefinition" in expression.path)
        at = expression.path[-1]
        if at in ("podTemplateSpecPath", "podSpecPath") and _OF_POD.fullmatch(expression.text):
            yield _about("part-for-pods", expression, text=expression.text)
        if better := _better_end(expression):
            yield _about("path-misread", expression, written=expression.text, better=better)
        # A reference is about one object, unless it names several.
        if expression.path[: len(REFERENCES)] == REFERENCES and several(expression.node):
            more = f", or look up a list of objects: `[{expression.text}]`" if "lookup" in expression.path else ""
            yield _about("several-in-reference", expression, more=more)


def _better_end(expression: Parsed) -> str:
    """Return the path that is meant by one that ends at another part, "" for any other expression."""
    end, better = _MISPLACED_ENDS.get(str(expression.path[-1]), ("(?!)", ""))
    return match.expand(better) if (match := re.fullmatch(end, expression.text)) else ""


def _selector(expression: Parsed, selector: PodSelector) -> Iterator[Finding]:
    kind = selector.component_type
    if kind is None or kind.key != expression.text:
        return
    if kind.value is not None and compares_alternative(kind.key):
        yield violation("selector-alternative", expression.path)
    if kind.value not in ("true", "false") and is_boolean(expression.node):
        yield _about("selector-boolean", expression)


def _value(expression: Parsed, *, of_count: bool) -> Iterator[Finding]:
    """Check where a value comes from, and which default replaces an absent value."""
    if of_count and fields_read(expression.node) == {"status"}:
        yield _about("count-from-status", expression)
    yield from (
        _about(rule, expression, written=written, better=better)
        for rule, written, better in (
            *misread_parts(expression.node, of_count=of_count),
            *failing_parts(expression.node),
        )
    )
    what = "count" if of_count else "other value"
    yield from (
        _about("useless-default", expression, written=written, what=what)
        for written in useless_defaults(expression.node, of_count=of_count)
    )
    yield from (_about("choice-without-else", expression, text=text) for text in open_choices(expression.node))


def _per_instance(component: ComponentDefinition, expression: Parsed, ids: Parsed | None) -> Iterator[Finding]:
    """Check the expressions that give one result for each instance of a component."""
    if rewriting := shared_default(expression.node):
        yield _about("shared-default", expression, written=rewriting[0], better=rewriting[1])
    if component.instance_id_path is None and several(expression.node) and not _better_end(expression):
        yield _about("several-without-ids", expression, ids=ids_meant(expression.text))
    if ids is not None and several(ids.node) and not several(expression.node):
        finding = _about("one-for-instances", expression, text=ids.text)
        read = fields_read(expression.node)
        is_relative = read and read.isdisjoint(("spec", "status", "metadata"))
        better = f"{ids.text.rpartition('[]')[0]}[] | {expression.text}"
        yield replace(finding, hint=f"a path begins at the object: write `{better}`") if is_relative else finding
    elif ids is not None and several(expression.node) and not several(ids.node):
        yield _about("several-for-one-id", expression, text=ids.text)
    elif ids is not None and selections(expression.node) != selections(ids.node):
        yield _about("select-differs", expression, text=ids.text)


def _changing(structure: StructureDefinition, annotations: Annotations) -> Mapping[str, bool]:
    """Return the components that ReviseReplica may change, each with whether the definition names it for that.

    These are the components in the annotation ``elastic``, else the ones with bounds. Otherwise all with pods and a
    count, unless a script answers or the definition leaves the operation out.
    """
    if annotations.is_indivisible:
        return {}
    scales = {
        component.name: component.scale_definition for _, component in structure.counted if component.scale_definition
    }
    named = (
        [name for name, scale in scales.items() if scale.min_replicas_path or scale.max_replicas_path]
        if annotations.elastic is None
        else [component.name for _, component in structure.components if annotations.is_elastic(component.name)]
    )
    if named or _REVISE in annotations.lua.operations or _REVISE not in (annotations.operations or (_REVISE,)):
        return dict.fromkeys(named, True)
    return dict.fromkeys(scales, False)


def _scale_places(
    component: ComponentDefinition, is_named: bool, usable: Mapping[Path, Parsed], retained: Collection[str]
) -> Iterator[Finding]:
    """Check for components with a number of replicas that Karmada should change but cannot."""
    scale = component.scale_definition or ScaleDefinition()
    field = "replicasPath" if scale.replicas_path is not None else "minReplicasPath"
    expression = usable.get(("scaleDefinition", field))
    if expression is None or not (is_named or reads_object(expression.node)):
        return
    if (count := render(without_default(expression.node))) in retained:
        yield violation("count-retained", annotation_path("retain"), text=count, name=component.name)
    has_own_rule = is_boolean(expression.node) or shared_default(expression.node)
    if not has_own_rule and not takes_number(expression.query):
        is_elastic = "is elastic, but no" if is_named else "has a count that ReviseReplica cannot change: no"
        more = (
            ""
            if is_named
            else "; or name the components that may change in the annotation karta-interpreter.io/elastic"
        )
        yield _about("replicas-not-writable", expression, name=component.name, is_elastic=is_elastic, more=more)


def _about(rule: str, expression: Parsed, **words: object) -> Finding:
    return replace(violation(rule, expression.path, **words), expression=expression.text)
