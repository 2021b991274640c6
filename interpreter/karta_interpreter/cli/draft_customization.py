"""``create karta --from-customization``: a draft of what scripts answer, and where the draft answers otherwise."""

from collections.abc import Iterator, Sequence

from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import GVK, Object, edit, patch
from karta_interpreter.cli.calls import ask
from karta_interpreter.cli.definitions import (
    DefinitionFiles,
    interpreter_of,
    read_existing,
)
from karta_interpreter.cli.diff import change_text, changed_answer, distinct
from karta_interpreter.cli.diff_input import questions_about
from karta_interpreter.cli.draft_evidence import MOST, chosen_kind
from karta_interpreter.cli.files import read_objects
from karta_interpreter.cli.made_members import made_members
from karta_interpreter.cli.program import UsageProblem
from karta_interpreter.definitions.karta import annotation_path
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.draft import Draft
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.definitions.sources.snapshot import ServedDefinition, SourceDefinitions
from karta_interpreter.engine.drafting import answered_evidence, draft_from, sample_of
from karta_interpreter.engine.fights.rounds import field_of
from karta_interpreter.engine.operations import Call, Operation, Results

_MADE_UP = "CHECK: which label of a pod tells this? A customization does not say it. This one is made up."
_RETAINED = "CHECK: do these fields belong to the member? The scripts keep them."


class Customization:
    """The scripts for a kind in a file, and the objects that they are asked about."""

    def __init__(self, path: str, kind: str | None, objects: Sequence[str]) -> None:
        """Read both. Several kinds without a choice, and another kind of object, are a UsageProblem."""
        files = read_existing([path])
        kinds = {each.gvk for file in files for each in file.customizations if each.gvk}
        if not kinds:
            raise UsageProblem(f"error: {path}: there is no ResourceInterpreterCustomization in it")
        self.gvk = chosen_kind(kinds, kind, path)
        self._interpreter = interpreter_of(self.gvk, files)
        self._objects = [each for file in objects for each in read_objects(file) if GVK.of(each) == self.gvk][:MOST]
        if objects and not self._objects:
            raise UsageProblem(f"error: {', '.join(objects)}: there is no object of the kind {self.gvk}")

    def draft(self, custom: CustomKind) -> Draft:
        """Draft what the scripts answer about the objects, or without objects about one that the schema describes."""
        self._objects = self._objects or [sample_of(custom)]
        drafted = draft_from(custom, list(answered_evidence(custom, self._objects, self._answer)))
        notes = [(path, _MADE_UP if path[-1] == "podSelector" else note) for path, note in drafted.notes]
        if not (kept := dict.fromkeys(line for obj in self._objects for line in self._kept(obj))):
            return Draft(drafted.karta, tuple(notes))
        path = annotation_path("retain")
        karta = edit.set_value(drafted.karta, path, "".join(kept))
        return Draft(karta, (*notes, (path, _RETAINED)))

    def differences(self, drafted: Draft) -> str:
        """Return the answers of a draft about the objects that differ, and their number."""
        definition = load_definition(drafted.karta)
        layer = SourceDefinitions((ServedDefinition(definition, "draft"),))
        after = interpreter_of(self.gvk, [DefinitionFiles(layer)])
        questions = [
            question
            for obj in self._objects
            for question in questions_about(obj, "", 0, self._one_more, lambda _: [definition])
        ]
        changes = distinct(changed_answer((self._interpreter, after), question) for question in questions)
        number = f"{count(len(questions), 'question')}: the draft answers {len(changes)} otherwise"
        return "".join(map(change_text, changes)) + number

    def _answer(self, call: Call) -> Results:
        interpreter = self._interpreter
        return (ask(interpreter, call).results if interpreter.is_asked(call.operation) else None) or {}

    def _one_more(self, obj: Object) -> int:
        return self._answer(Call(Operation.INTERPRET_REPLICA, obj)).get("replica", 0) + 1

    def _kept(self, obj: Object) -> Iterator[str]:
        """Yield a line for each field of the specification that Retain takes from a member with another value."""
        member = next(made_members(obj, ()))
        retained = self._answer(Call(Operation.RETAIN, member.desired, member.observed)).get("retained")
        changes = patch.changes(member.desired.get("spec"), retained.get("spec"), ("spec",)) if retained else ()
        yield from (f"- {field_of(change.path)}\n" for change in changes)
