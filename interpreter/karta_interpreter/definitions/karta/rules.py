"""The rules of Karta's admission webhook and of `lint`: how bad it is to break one, and the words for it."""

from collections.abc import Mapping
from typing import Final

from karta_interpreter.base.findings import Finding, error, warning
from karta_interpreter.base.k8s import Path

REFUSED: Final = "Karta's own admission refuses this"
"""The begin of a warning about a definition that answers, although the webhook of Karta does not take it."""

RULES: Final[Mapping[str, tuple[str, str]]] = {
    "absent-fails": (
        "`{text}` fails on an object with an empty spec and no status: {reason}",
        'give it a default, as in `.status.phase // ""`',
    ),
    "child-status-unused": (
        "only the root's status definition is used",
        "move it to the root component, or remove it",
    ),
    "child-without-owner": (
        f'{REFUSED}: the child component "{{name}}" has no owner, and belongs to the root here',
        "add ownerRef with the name of its parent component",
    ),
    "component-name-not-unique": (
        'the component name "{name}" is not unique',
        "other fields name components by it; give each its own",
    ),
    "condition-without-status": (
        'the condition "{type}" matches whatever its status is, "False" as well',
        'add status: "True"',
    ),
    "count-from-status": (
        "the count is read from the status, which a template does not have before its first report",
        "read the field of the spec that the controller follows",
    ),
    "count-not-divided": (
        "`{text}` is no count that ReviseReplica changes, so nothing is divided along with it",
        "write the replicasPath of a component that the annotation elastic names",
    ),
    "count-retained": (
        "retain keeps the member's `{text}`, so the count that Karmada gives {name} never arrives",
        "write `replicas: {text}`, which keeps it if the label of Karmada for that is set",
    ),
    "default-precedence": (
        "in `{text}` the `{operator}` applies before the `//`",
        "put the value and its default in parentheses, as in `(.spec.replicas // 1) * .spec.hosts`",
    ),
    "ids-differ": (
        "results and ids are paired by position, and instanceIdPath `{text}` {other}",
        "give one result for each id, in the same order",
    ),
    "instance-id-is-type": (
        'the path that selects the pods of the component "{name}" by a value gives their instances this value, too',
        "write the path of the label with the name of the instance",
    ),
    "instance-id-path-missing": (
        f'{REFUSED}: the component "{{name}}" has no instance id path, so its instance selector is not used',
        "add instanceIdPath",
    ),
    "instance-selector-missing": (
        f'{REFUSED}: pods of the component "{{name}}" cannot be told apart by instance',
        "add podSelector.componentInstanceSelector.idPath, or remove the instanceIdPath of what is there once",
    ),
    "matcher-empty": (
        "a matcher without any test always matches",
        "give it byPhase, byConditions or byExpression",
    ),
    "matcher-without-place": (
        "{field} never matches: {lacking}",
        "complete the status definition, or remove the test",
    ),
    "never-healthy": (
        "no status is mapped that counts as healthy, so every workload is unhealthy",
        "map running, completed or suspended, or add the annotation karta-interpreter.io/health",
    ),
    "no-pods": (
        "no component has a pod definition, and the root has no count, so replicas of this kind cannot be counted",
        "add a specDefinition to the component that has the pods, or a scaleDefinition to the root",
    ),
    "owner-not-found": (
        f'{REFUSED}: there is no component "{{owner_ref}}", so "{{name}}" belongs to the root here',
        "{hint}",
    ),
    "owners-too-deep": (
        f'{REFUSED}: the component "{{name}}" has more than {{most}} owners above it, and belongs to the root here',
        "name an owner that is nearer to the root",
    ),
    "ownership-cycle": (
        f'{REFUSED}: the component "{{name}}" is its own owner at last, and belongs to the root here',
        "the owners of every component must lead to the root",
    ),
    "pod-group-member-not-found": (
        f'{REFUSED}: the pod group member "{{component}}" is not a component',
        "{hint}",
    ),
    "pod-group-member-without-pods": (
        'the component "{component}" has no pods that a group could wait for',
        "name the components with a specDefinition",
    ),
    "reference-name": (
        '"{name}" is not the name of a variable',
        "letters, digits and underscores, as in trainingRuntime; `$` stands in expressions only",
    ),
    "reference-not-unique": (
        'the reference "{name}" is there twice',
        "give each a name of its own",
    ),
    "reference-unread": (
        'no expression reads the reference "{name}"',
        "write `${name}` where its object is meant, or remove it",
    ),
    "reference-without-labels": (
        "it lists every object of the kind: there are neither matchLabels nor matchExpressions",
        "say by which labels its objects are known",
    ),
    "repeated-list-key": (
        'a second entry has the {field} "{key}", which the API server rejects',
        "keep one of them",
    ),
    "replicas-not-counted": (
        'pods are grouped by replicas of the component "{name}", which does not count them: it has pods, or no scale',
        "move the replicaSelector to a component above that has no pods and a scaleDefinition with the replicas",
    ),
    "replicas-not-writable": (
        'the component "{name}" {is_elastic} number can be written through this expression',
        "read the number from one place: `.spec.replicas // 1`, `.spec.groups[] | .replicas * .hosts`{more}",
    ),
    "retains-all": (
        "`{text}` keeps {kept} of the member: what changes there in the template never arrives",
        "name the fields that a member changes",
    ),
    "root-has-owner": (
        f"{REFUSED}: the root component cannot have an owner, which is left out here",
        "remove ownerRef",
    ),
    "root-kind-incomplete": (
        "the root component must have its full kind: group, version and kind",
        "the group has no version in it, and may be empty for the kind Pod only",
    ),
    "root-without-status": (
        f"{REFUSED}: the root component has no status definition, so workloads have no health",
        "add statusDefinition with statusMappings",
    ),
    "scale-without-pods": (
        'the component "{name}" has a scale but no pods, so its scale is not used',
        "only components with a specDefinition are counted, and replicas of one with a replicaSelector",
    ),
    "selector-alternative": (
        "keyPath is compared as `KEYPATH == value`, in which `//` applies to the comparison",
        "put the expression in parentheses",
    ),
    "several-pod-definitions": (
        'the component "{name}" has several pod definitions',
        "keep one of podTemplateSpecPath, podSpecPath and fragmentedPodSpecDefinition",
    ),
    "several-results": (
        "the expression may give several results where one belongs, which is an error when it does",
        "pick one result with `first(...)`, or ask about all with `any(...)` or `all(...)`",
    ),
    "several-without-ids": (
        "the expression may give several results, but the component has no instanceIdPath to name them",
        "add instanceIdPath: {ids}, or another field that names each, or pick one result with `first(...)`",
    ),
    "shared-default": (
        "`{written}` drops every instance that leaves the value unset: the default is for the whole list",
        "write `{better}`",
    ),
    "status-not-sent": (
        "`{text}` is in the status, which Karmada leaves to the member",
        "remove it; if the CRD has no status subresource, keep `.status` as a whole",
    ),
    "sub-group-not-found": (
        'the subgroup "{component}" is not a component',
        "{hint}",
    ),
    "suspend-not-undone": (
        "suspending writes to `{text}`, and no resume action writes another value there",
        "add a resume action; of a count, which it cannot know, suspend by another switch",
    ),
    "suspend-path-not-writable": (
        "the expression computes a value; nothing can be written there",
        "write a path, such as `.spec.suspend`",
    ),
    "suspend-value-not-json": (
        "the value is not JSON: {shown}",
        "true, false and null have small letters; a string needs quotes of its own: '\"{shown}\"'",
    ),
    "type-selector-empty": (
        f'{REFUSED}: the type selector of "{{name}}" has neither keyPath nor matchLabels, and recognises no pod',
        "say by which label or field its pods are recognised",
    ),
    "type-selector-missing": (
        'the pods of the component "{name}" cannot be distinguished from those of other components',
        "add podSelector.componentTypeSelector",
    ),
    "type-selector-repeated": (
        'all pods that the component "{name}" recognises count as those of "{first}"',
        "select the pods of each by a value that no other has",
    ),
    "type-selector-value-without-key": (
        f'{REFUSED}: the type selector of the component "{{name}}" has no keyPath, so its value is not used',
        "add keyPath, the place of the value in a pod",
    ),
    "unused-annotation": (
        "the annotation operations leaves out every operation that reads this annotation",
        "name one of them there, or remove this annotation",
    ),
}
"""The message and the hint of each rule, with the names of the parts that differ."""

NO_ANSWER: Final[Mapping[str, str]] = {
    "component-name-not-unique": "annotations and answers name components, and this name means two",
    "expression-language": "the expressions cannot be read",
    "expression-refused": "the expression has no result here",
    "expression-syntax": "the expression has no result",
    "matcher-in-two-statuses": "a failed workload is evicted, and one at work stays: the phase says both",
    "not-a-karta": "there is no definition",
    "reference-name": "no expression can read the reference",
    "reference-not-unique": "the name means two objects",
    "reference-without-labels": "every object of the kind would be read for every workload",
    "root-kind-incomplete": "it is not known which kind it answers for",
    "schema": "a part is missing, or it is not known what it says",
    "several-pod-definitions": "two places say what the pods are",
    "suspend-value-not-json": "it is not known what suspends the workload",
    "unknown-annotation": "what the annotation says would be left out of the answers",
    "unknown-field": "the value would be left out of the answers",
    "unreadable": "there is no definition",
}
"""Why no right answer can be given, by each rule that makes an error. Everything else is a warning."""


def violation(rule: str, path: Path, **words: object) -> Finding:
    """Return the finding about a place that breaks a rule, with these parts in its words."""
    message, hint = RULES[rule]
    report = error if rule in NO_ANSWER else warning
    return report(rule, path, message.format(**words), hint.format(**words))
