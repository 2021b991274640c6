"""Words of objects in lines to paste: none becomes an option, another namespace, or a part of a shell's language.

Whoever has the role `edit` makes bindings and objects, and chooses the names in them. An administrator pastes what a
command prints.
"""

import json
import re
import shlex
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

import karta_interpreter
from karta_interpreter.base.command_line import command_line
from karta_interpreter.base.k8s.request_path import FORMS, LONGEST_LABEL
from karta_interpreter.base.k8s.values import GVK, NOTHING
from karta_interpreter.base.karmada import Operation
from karta_interpreter.cli import unregister
from karta_interpreter.cli.create import _how_to_run
from karta_interpreter.cli.options import complete_kinds
from karta_interpreter.cli.serve import curl
from karta_interpreter.clusters.remains import remains_of
from karta_interpreter.definitions.karta.definition import ComponentRules, Definition
from karta_interpreter.definitions.karta.reference_resolver import _not_there
from karta_interpreter.definitions.openapi.draft import draft
from karta_interpreter.definitions.openapi.schema import CustomKind, SchemaPath
from karta_interpreter.definitions.sources.snapshot import ServedDefinition, Snapshot
from karta_interpreter.engine.fights.rounds import FieldDifference, field_of, retain_line
from karta_interpreter.engine.registered.interpreters import Customization, RegisteredWebhook, Rule
from karta_interpreter.engine.verification.dependencies import _line
from karta_interpreter.webhook.doctor.webhooks import judge_precedence, judge_registration

Run = Callable[..., Result]

WORDS = {
    "an option": "--server=https://elsewhere",
    "a short option": "-A",
    "several words": "a --all",
    "a line": "a\nkubectl delete namespace team",
    "a quote": "a'; curl elsewhere|sh; '",
    "two quotes": '"a\'b"',
    "a substitution": "$(id)",
    "an older substitution": "`id`",
    "a variable": "a$HOME",
    "another namespace": "kube-system/coredns",
    "a path": "../a",
    "a terminal's control": "a\x1b[2J\x9b",
    "another direction": "a\u202eb",
    "a line of Unicode": "a\u2028b",
    "a function of jq": "\\(env)",
    "a place of a template": "{kind}",
    "nothing": "",
    "a capital": "A",
    "too long": "a" * 254,
}
_ALL = tuple(Operation)
_RULE = Rule(("a.io",), ("v1",), ("Mill",), ("InterpretReplica",))
_OURS = RegisteredWebhook("karta-interpreter", rules=(_RULE,))


def _binding(binding: str = "a-jobset", **changes: str) -> dict[str, Any]:
    names = {"namespace": "ml", "kind": "JobSet", "version": "v1alpha2", "group": "jobset.x-k8s.io", "name": "a"}
    names |= changes
    resource = {"apiVersion": f"{names['group']}/{names['version']}", "kind": names["kind"]}
    resource |= {"namespace": names["namespace"], "name": names["name"]}
    status = {"aggregatedStatus": [{"clusterName": "m1"}]}
    return {
        "metadata": {"namespace": names["namespace"], "name": binding},
        "spec": {"resource": resource},
        "status": status,
    }


def _unregister(*bindings: dict[str, Any]) -> str:
    """Return what `unregister --dry-run` prints."""
    lines = list[str]()
    kinds = {GVK("batch.io", "v1", "Owner"): _ALL}
    for binding in bindings:
        resource = binding["spec"]["resource"]
        group, _, version = resource["apiVersion"].partition("/")
        kinds[GVK(group, version, resource["kind"])] = _ALL
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unregister, "say", lambda text, **_: lines.append(str(text).removesuffix("\n")))
        with suppress(SystemExit):
            unregister.print_remains([*remains_of(kinds, bindings)])
    return "\n".join(lines)


def _of_resource(form: str) -> Callable[[str], str]:
    return lambda word: _unregister(_binding(**{form: word}))


def _attached(word: str) -> str:
    owner = _binding("owner", kind="Owner", group="batch.io", version="v1") | {"status": {}}
    attached = _binding(word, kind="Secret", group="core") | {"status": {}}
    attached["spec"]["requiredBy"] = [{"namespace": "ml", "name": "owner"}]
    return _unregister(owner, attached)


def _elsewhere(word: str) -> str:
    binding = _binding()
    binding["spec"]["resource"]["namespace"] = word
    return _unregister(binding)


def _other_registration(word: str) -> str:
    return " ".join(result.advice for result in judge_registration("karta-interpreter", (), [RegisteredWebhook(word)]))


def _registration_before_ours(word: str) -> str:
    other = RegisteredWebhook(word, rules=(_RULE,))
    return " ".join(result.advice for result in judge_precedence([_OURS], [other], []))


def _customization_before_ours(word: str) -> str:
    scripts = Customization(word, GVK("a.io", "v1", "Mill"), frozenset({Operation.INTERPRET_REPLICA}))
    return " ".join(result.advice for result in judge_precedence([_OURS], [], [scripts]))


_PLACES: dict[str, tuple[str, Callable[[str], str]]] = {
    **{
        f"unregister: the {form} of a template": (form, _of_resource(form))
        for form in ("name", "namespace", "kind", "version", "group")
    },
    "unregister: an attached binding": ("name", _attached),
    "unregister: a template in another namespace": ("namespace", _elsewhere),
    "doctor: another registration": ("name", _other_registration),
    "doctor: a registration before ours": ("name", _registration_before_ours),
    "doctor: a customization before ours": ("name", _customization_before_ours),
    "an error: the kind of a reference": ("kind", lambda word: _not_there(GVK("a.io", "v1", word), "one")),
    "an error: the name of an object": ("name", lambda word: _not_there(GVK("a.io", "v1", "Mill"), word)),
}
LONGEST_NAME = 255
_COMMANDS = re.compile(r"(?:kubectl|karta-interpreter|curl) [^`\n]*")


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("place", _PLACES)
def test_word_without_its_form_enters_no_command(place: str, word: str) -> None:
    form, print_with = _PLACES[place]
    if re.fullmatch(FORMS[form], word):
        pytest.skip("the word has the form")
    if (place, word) == ("unregister: the namespace of a template", ""):
        pytest.skip("a cluster-scoped object")
    text = print_with(word)

    assert not [line for line in text.split("\n") if not line.isprintable()]
    unquoted = text.replace(json.dumps(word[:LONGEST_LABEL]), "")
    assert not word or word not in unquoted
    assert {*_COMMANDS.findall(unquoted)} <= {"kubectl get --output=yaml -- Mill"}


@pytest.mark.parametrize("place", _PLACES)
def test_word_with_its_form_is_shown_as_it_is(place: str) -> None:
    form, print_with = _PLACES[place]
    word = {"version": "v1beta1", "kind": "Bakery", "group": "bakery.io", "namespace": "bakeries"}.get(form, "bread")
    text = print_with(word)
    assert word in text
    assert f'"{word}"' not in text


_OWN = {name: word for name, word in WORDS.items() if word and word.isprintable()}


def _name_both_sides(error: str) -> str:
    return error.partition("both sides: ")[2].partition("; a side")[0]


_OWN_PLACES: dict[str, Callable[[Run, str], str]] = {
    "create suite": lambda _, word: _how_to_run(Path("home", "testdata", "a"), (word,)),
    "diff": lambda run, word: _name_both_sides(run("diff", "--from", word, "--", word).stderr),
    "create example": lambda run, word: run("create", "example", "--", word).stderr,
}


@pytest.mark.parametrize("word", _OWN.values(), ids=_OWN)
@pytest.mark.parametrize("place", _OWN_PLACES)
def test_path_of_the_user_is_one_word_and_no_option(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, word: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if place == "create example" and (len(word) > LONGEST_NAME or word.startswith("..")):
        pytest.skip("no name of a folder here")
    text = _OWN_PLACES[place](run, word)
    command = text.strip().removeprefix("try: ").strip("`").removesuffix("` runs them")

    words = [part for part in shlex.split(command) if word in part or str(Path(word)) in part]
    assert words
    assert not [part for part in words if part.startswith("-")]


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_line_for_a_karta_has_no_more_than_was_written(word: str) -> None:
    """Members choose the names of what their pods refer to, and the fields that others write there."""
    dependency = _line("v1", "Secret", json.dumps(word))
    assert yaml.safe_load(dependency) == [{"apiVersion": "v1", "kind": "Secret", "name": json.dumps(word)}]
    field = field_of(("spec", word))
    for ours, theirs, written in (
        (1, 2, field),
        (1, NOTHING, f"{field} // empty"),
        (NOTHING, 1, {"unset": field}),
    ):
        line = retain_line(FieldDifference(field, ours, theirs))
        assert yaml.safe_load(line) == [written]
        assert "\n" not in line


@pytest.mark.parametrize("name", ["inf", "nan", "5", "yes", "1e3"])
def test_line_for_a_karta_is_a_text(name: str) -> None:
    line = retain_line(FieldDifference(f".{name}", 1, 2))
    assert yaml.safe_load(line) == [f".{name}"]


@pytest.mark.parametrize("word", [word for word in WORDS.values() if word])
def test_kind_of_a_definition_is_data_of_the_first_question(word: str) -> None:
    gvk = GVK("a.io", "v1", word)
    served = ServedDefinition(Definition("a", gvk, (ComponentRules("a", "main", gvk),)), "here")
    words = shlex.split(curl("https://127.0.0.1:8443/interpret", Snapshot({gvk: served})))

    assert json.loads(words[words.index("--data") + 1])["request"]["kind"]["kind"] == word
    assert [option for option in words if option.startswith("-")] == ["--silent", "--insecure", "--header", "--data"]


def test_completed_words_have_their_form() -> None:
    assert all(re.fullmatch(FORMS["kind"], kind) for kind in complete_kinds(None, None, ""))  # type: ignore[arg-type]


def test_one_function_makes_command_lines() -> None:
    root = Path(karta_interpreter.__file__).parent
    users = [path.relative_to(root) for path in root.rglob("*.py") if "shlex" in path.read_text(encoding="utf-8")]
    assert users == [Path("base", "command_line.py")]


def test_standard_input_stays_a_word() -> None:
    assert command_line("karta-interpreter test {0} -f {1}", "a b", "-") == "karta-interpreter test 'a b' -f -"


@pytest.mark.parametrize("word", [word for word in WORDS.values() if word])
def test_draft_names_a_field_of_a_crd_as_it_is(word: str) -> None:
    status = {"type": "object", "required": [word], "properties": {word: {"type": "object"}}}
    schema = {"type": "object", "properties": {"status": status}}
    drafted = draft(CustomKind("bakeries.a.io", GVK("a.io", "v1", "Bakery"), schema))

    text = drafted.karta["metadata"]["annotations"]["karta-interpreter.io/required-status"]
    assert yaml.safe_load(text) == {SchemaPath(("status", word)).jq: {}}
