"""The rules of Karta's admission webhook and of `lint`: how bad it is to break one, and the words for it."""

from collections.abc import Mapping
from typing import Final

from karta_interpreter.base.findings import Finding, Severity
from karta_interpreter.base.k8s import Path

RULES: Final[Mapping[str, tuple[Severity, str, str]]] = {
    "absent-fails": (
        Severity.WARNING,
        "`{written}` fails as long as the field is absent, as in the status of every new workload",
        "write `{better}`",
    ),
    "bounds-swapped": (
        Severity.WARNING,
        "minReplicasPath gives the most replicas, and maxReplicasPath the least",
        "swap the two",
    ),
    "child-kind-incomplete": (Severity.WARNING, "the kind has no version or no kind", "complete it"),
    "child-status-unused": (
        Severity.WARNING,
        "only the root's status definition is used",
        "move it to the root component, or remove it",
    ),
    "child-suspends": (
        Severity.WARNING,
        "tools that suspend a workload through its root alone leave out the actions of a child",
        "put every action on the root component",
    ),
    "child-without-owner": (
        Severity.ERROR,
        'the child component "{name}" has no owner',
        "add ownerRef with the name of its parent component",
    ),
    "choice-without-else": (
        Severity.WARNING,
        "`{text}` gives the whole object unless its condition holds",
        "write `else` and the value for all other objects before `end`",
    ),
    "component-name-empty": (Severity.ERROR, "the component name is empty", "give it a name"),
    "component-name-not-unique": (
        Severity.ERROR,
        'the component name "{name}" is not unique',
        "other fields name components by it; give each its own",
    ),
    "condition-repeated": (
        Severity.WARNING,
        'the condition "{type}" stands twice in one matcher, and all conditions of a matcher must hold',
        "keep one; write a matcher for each if one of them is enough",
    ),
    "condition-status-unread": (
        Severity.WARNING,
        'the condition "{type}" never matches: statusFieldName is empty, so it has no status',
        "remove status: the condition holds while it is there",
    ),
    "condition-without-status": (
        Severity.WARNING,
        'the condition "{type}" matches whatever its status is, "False" as well',
        'add status: "True"',
    ),
    "condition-by-place": (
        Severity.WARNING,
        "`{written}` is any condition: their order says nothing",
        "write `{better}`",
    ),
    "compared-twice": (
        Severity.WARNING,
        "`{written}` is the same for every value",
        "write `{better}`",
    ),
    "conditions-definition-missing": (
        Severity.WARNING,
        "byConditions never matches without a conditionsDefinition",
        "add conditionsDefinition.path to the status definition",
    ),
    "counted-by-length": (
        Severity.WARNING,
        "`{written}` multiplies the number of each entry by the number of entries, and each entry counts by itself",
        "write `{better}`",
    ),
    "count-from-status": (
        Severity.WARNING,
        "the count is read from the status, which a template does not have before its first report",
        "read the field of the spec that the controller follows",
    ),
    "count-not-divided": (
        Severity.WARNING,
        "`{text}` is no count that ReviseReplica changes, so nothing is divided along with it",
        "write the replicasPath of a component that the annotation elastic names",
    ),
    "count-retained": (
        Severity.WARNING,
        "retain keeps the member's `{text}`, so the count that Karmada gives {name} never arrives",
        "write `replicas: {text}`, which keeps it if the label of Karmada for that is set",
    ),
    "default-compared": (
        Severity.WARNING,
        "in `{written}` the `//` applies last, and never to the value beside it",
        "write `{better}`",
    ),
    "default-true": (
        Severity.WARNING,
        "`{written}` is true for a false, too: `//` replaces false as it replaces null",
        "write `{better}`",
    ),
    "default-is-factor": (
        Severity.WARNING,
        "`{written}` computes with the default only: `//` applies last",
        "write `{better}`",
    ),
    "fragments-empty": (Severity.WARNING, "the fragmented pod spec definition has no path", "name a piece"),
    "health-not-boolean": (
        Severity.WARNING,
        "`{text}` may give nothing or several results where true or false belongs, which is an error then",
        'compare it: `.status.phase == "Running"`; of entries write `any(.status.conditions[]?; .type == "Ready")`',
    ),
    "instance-id-is-type": (
        Severity.WARNING,
        'the path that selects the pods of the component "{name}" by a value gives their instances this value, too',
        "write the path of the label with the name of the instance",
    ),
    "instance-id-path-missing": (
        Severity.ERROR,
        'the component "{name}" has an instance selector for its pods but no instance id path',
        "add instanceIdPath",
    ),
    "instance-selector-missing": (
        Severity.ERROR,
        'the component "{name}" has an instance id path but no instance selector for its pods',
        "add podSelector.componentInstanceSelector.idPath, or remove the instanceIdPath of what is there once",
    ),
    "kind-of-resource": (
        Severity.WARNING,
        "{kind} is not spelled as a kind",
        "write the kind as manifests do, such as {meant}",
    ),
    "letter-alike": (
        Severity.WARNING,
        "`{text}` has signs that only look like others, and equal none of them: {signs}",
        "write `{better}`",
    ),
    "letters-never": (
        Severity.WARNING,
        "`{written}` is never true: one side has no such letters",
        "write `{better}`",
    ),
    "matcher-empty": (
        Severity.WARNING,
        "a matcher without any test always matches",
        "give it byPhase, byConditions or byExpression",
    ),
    "matcher-never": (Severity.WARNING, '{noun} is never "{text}"', 'write "{better}"'),
    "matcher-repeated": (Severity.WARNING, "this matcher stands twice in the list", "remove one, or correct it"),
    "memory-of-number": (
        Severity.WARNING,
        "`{written}` is in whole bytes or cores, because a number has no unit",
        "write `{better}`",
    ),
    "metadata-path-unused": (
        Severity.WARNING,
        "metadataPath is used with podSpecPath only",
        "remove it, or name the pod spec by podSpecPath",
    ),
    "never-healthy": (
        Severity.WARNING,
        "no status is mapped that counts as healthy, so every workload is unhealthy",
        "map running, completed or suspended, or add the annotation karta-interpreter.io/health",
    ),
    "no-pods": (
        Severity.WARNING,
        "no component has a pod definition, and the root has no count, so replicas of this kind cannot be counted",
        "add a specDefinition to the component that has the pods, or a scaleDefinition to the root",
    ),
    "one-for-instances": (
        Severity.WARNING,
        "the expression gives one result, and instanceIdPath `{text}` may give several ids",
        "give one result for each id, in the same order",
    ),
    "or-is-boolean": (
        Severity.WARNING,
        "`{written}` is true or false, never one of its two values",
        "write `{better}`",
    ),
    "owner-not-found": (
        Severity.ERROR,
        'the child component "{name}" has an owner that does not exist: "{owner_ref}"',
        "{hint}",
    ),
    "owners-too-deep": (
        Severity.ERROR,
        'the component "{name}" has more than {most} levels of owners above it',
        "name an owner that is nearer to the root",
    ),
    "ownership-cycle": (
        Severity.ERROR,
        'the component "{name}" is its own owner, directly or through others',
        "the owners of every component must lead to the root",
    ),
    "part-for-pods": (
        Severity.WARNING,
        "`{text}` is a part of a pod, and not what describes one",
        "name the template or spec of a pod, which is around its containers",
    ),
    "path-copied": (
        Severity.WARNING,
        'the component "{name}" reads `{text}`, as "{first}" does',
        "write the path of {name}",
    ),
    "path-misread": (
        Severity.WARNING,
        "`{written}` is not the path that it seems to be",
        "write `{better}`",
    ),
    "phase-definition-missing": (
        Severity.WARNING,
        "byPhase never matches without a phaseDefinition",
        "add phaseDefinition.path to the status definition",
    ),
    "phase-is-expression": (
        Severity.WARNING,
        "`{text}` is an expression, and byPhase is the phase itself",
        'write the phase alone, as in `byPhase: Ready`; or `byExpression: {{expression: …, expectedResult: "true"}}`',
    ),
    "phases-in-one": (
        Severity.WARNING,
        "`{text}` is one phase, which is compared letter by letter",
        "write a matcher for each phase: [{{byPhase: Ready}}, {{byPhase: Active}}]",
    ),
    "phases-alike": (
        Severity.WARNING,
        "`{text}` differs from `{first}` of another status in its capital letters only",
        "keep the phase as the controller writes it",
    ),
    "pod-group-member-not-found": (Severity.ERROR, 'the pod group member "{component}" is not a component', "{hint}"),
    "pod-group-empty": (Severity.WARNING, "the pod group has no members, so no pod is in it", "name its components"),
    "pod-group-member-repeated": (
        Severity.WARNING,
        'the pods of the component "{component}" are in another pod group already',
        "name it in one group, or divide its pods by `filters` in each",
    ),
    "pods-empty": (
        Severity.WARNING,
        "the spec definition has no path",
        "name the pod template or spec, or remove it",
    ),
    "pod-group-member-without-pods": (
        Severity.WARNING,
        'the component "{component}" has no pods that a group could wait for',
        "name the components with a specDefinition",
    ),
    "reference-kind-incomplete": (
        Severity.ERROR,
        'the reference "{name}" has no full kind',
        "write group, version and kind",
    ),
    "reference-label-value": (Severity.ERROR, "there is {written}", "write one of them"),
    "reference-name": (
        Severity.ERROR,
        '"{name}" is not the name of a variable',
        "letters, digits and underscores, as in trainingRuntime; `$` stands in expressions only",
    ),
    "reference-not-unique": (Severity.ERROR, 'the reference "{name}" is there twice', "give each a name of its own"),
    "reference-unread": (
        Severity.WARNING,
        'no expression reads the reference "{name}"',
        "write `${name}` where its object is meant, or remove it",
    ),
    "reference-without-labels": (
        Severity.ERROR,
        "it lists every object of the kind: there are neither matchLabels nor matchExpressions",
        "say by which labels its objects are known",
    ),
    "reference-without-way": (
        Severity.ERROR,
        'the reference "{name}" has {written}',
        "lookup: {{nameExpression: .spec.config}} reads an object by its name, list those with certain labels",
    ),
    "repeated-list-key": (
        Severity.WARNING,
        'a second entry has the {field} "{key}", which the API server rejects',
        "keep one of them",
    ),
    "replicas-not-writable": (
        Severity.WARNING,
        'the component "{name}" {is_elastic} number can be written through this expression',
        "read the number from one place: `.spec.replicas // 1`, `.spec.groups[] | .replicas * .hosts`{more}",
    ),
    "retains-all": (
        Severity.WARNING,
        "`{text}` keeps {kept} of the member: what changes there in the template never arrives",
        "name the fields that a member changes",
    ),
    "root-has-owner": (Severity.ERROR, "the root component cannot have an owner", "remove ownerRef"),
    "root-kind-incomplete": (
        Severity.ERROR,
        "the root component must have its full kind: group, version and kind",
        "the group has no version in it, and may be empty for the kind Pod only",
    ),
    "root-kind-too-long": (
        Severity.ERROR,
        "the root component must have a kind that Kubernetes allows",
        "a group has at most 253 characters, a version and a kind have 63",
    ),
    "root-kind-wildcard": (
        Severity.ERROR,
        "the root component must be of one kind: `*` stands for none",
        "write a Karta for each kind",
    ),
    "root-without-status": (
        Severity.ERROR,
        "the root component must have a status definition",
        "add statusDefinition with statusMappings",
    ),
    "scale-empty": (Severity.WARNING, "the scale definition has no path", "write its replicasPath, or remove it"),
    "scale-without-pods": (
        Severity.WARNING,
        'the component "{name}" has a scale but no pods, so its scale is not used',
        "only components with a specDefinition are counted, and replicas of one with a replicaSelector",
    ),
    "select-differs": (
        Severity.WARNING,
        "its `select` is not that of instanceIdPath `{text}`: results and ids are paired by position",
        "leave the same instances out of both, or none",
    ),
    "selector-alternative": (
        Severity.WARNING,
        "keyPath is compared as `KEYPATH == value`, in which `//` applies to the comparison",
        "put the expression in parentheses",
    ),
    "selector-boolean": (
        Severity.WARNING,
        "keyPath compares, so its result is true or false and is there for every pod",
        "write the path alone as keyPath, and what it has to be as value",
    ),
    "several-in-reference": (
        Severity.WARNING,
        "the expression may give several results where one belongs, which is an error when it does",
        "pick one result with `first(...)`{more}",
    ),
    "several-in-status": (
        Severity.WARNING,
        "the expression may give several results where one belongs",
        "the list of conditions is written without `[]`, and matched byConditions; pick one phase with `first(...)`",
    ),
    "several-pod-definitions": (
        Severity.ERROR,
        'the component "{name}" has several pod definitions',
        "keep one of podTemplateSpecPath, podSpecPath and fragmentedPodSpecDefinition",
    ),
    "several-for-one-id": (
        Severity.WARNING,
        "the expression may give several results, and instanceIdPath `{text}` gives one id",
        "give one id for each result, in the same order",
    ),
    "several-without-ids": (
        Severity.WARNING,
        "the expression may give several results, but the component has no instanceIdPath to name them",
        "add instanceIdPath: {ids}, or another field that names each, or pick one result with `first(...)`",
    ),
    "shared-default": (
        Severity.WARNING,
        "`{written}` drops every instance that leaves the value unset: the default is for the whole list",
        "write `{better}`",
    ),
    "status-mappings-empty": (Severity.WARNING, "no status is ever matched", "add a mapping, at least running"),
    "status-not-reported": (
        Severity.WARNING,
        "no controller reports in {fields}",
        "read it from the status, or map the field by byExpression",
    ),
    "status-not-sent": (
        Severity.WARNING,
        "`{text}` is in the status, which Karmada leaves to the member",
        "remove it; if the CRD has no status subresource, keep `.status` as a whole",
    ),
    "sub-group-not-found": (Severity.WARNING, 'the subgroup "{component}" is not a component', "{hint}"),
    "suspend-path-not-writable": (
        Severity.WARNING,
        "the expression computes a value; nothing can be written there",
        "write a path, such as `.spec.suspend`",
    ),
    "suspend-value-not-json": (
        Severity.ERROR,
        "the value is not JSON: {shown}",
        "true, false and null have small letters; a string needs quotes of its own: '\"{shown}\"'",
    ),
    "suspend-inverted": (
        Severity.WARNING,
        "suspending writes false to `{text}`, which resumes",
        "swap the values of the suspend and the resume actions",
    ),
    "suspend-is-resume": (
        Severity.WARNING,
        "suspending and resuming write the same value to `{text}`",
        "write another value in one of them",
    ),
    "suspend-stays": (
        Severity.WARNING,
        "suspending writes to `{text}`, and no resume action does",
        "add a resume action; of a count, which it cannot know, suspend by another switch",
    ),
    "text-is-true": (
        Severity.WARNING,
        "in `{written}` a text is true whatever it says",
        "compare it: `{better}`",
    ),
    "text-ordered": (
        Severity.WARNING,
        "`{written}` compares with a text: in jq every text is more than any number, and equals none",
        "write `{better}`",
    ),
    "type-selector-empty": (
        Severity.ERROR,
        'the component "{name}" has a type selector with neither keyPath nor matchLabels',
        "say by which label or field its pods are recognised",
    ),
    "type-selector-missing": (
        Severity.WARNING,
        'the pods of the component "{name}" cannot be distinguished from those of other components',
        "add podSelector.componentTypeSelector",
    ),
    "type-selector-repeated": (
        Severity.WARNING,
        'all pods that the component "{name}" recognises count as those of "{first}"',
        "select the pods of each by a value that no other has",
    ),
    "type-selector-value-without-key": (
        Severity.ERROR,
        'the component "{name}" has a type selector value without keyPath',
        "add keyPath, the place of the value in a pod",
    ),
    "unknown-group": (
        Severity.WARNING,
        "no kind {kind} is known in the group {group}",
        "did you mean {meant}?",
    ),
    "unused-annotation": (
        Severity.WARNING,
        "the annotation operations leaves out every operation that reads this annotation",
        "name one of them there, or remove this annotation",
    ),
    "useless-default": (
        Severity.WARNING,
        "`{written}` gives no {what} for a field that is unset",
        "write what the controller takes, or no default",
    ),
}
"""The severity, the message and the hint of each rule, with the names of the parts that differ."""


def violation(rule: str, path: Path, **words: object) -> Finding:
    """Return the finding about a place that breaks a rule, with these parts in its words."""
    severity, message, hint = RULES[rule]
    return Finding(severity, rule, path, message.format(**words), hint.format(**words))
