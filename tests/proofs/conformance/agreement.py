"""Whether two engines gave the same outcome, also where Karmada's has no definite order or shows an error."""

import json
import re
from collections.abc import Mapping

from karta_interpreter.base.k8s.values import JSON
from tests.proofs.conformance.comparison import same
from tests.proofs.conformance.question import Outcome

# What users of Karmada see of an error and may know it by; other texts, such as those of the Lua runtime, may differ.
_WORDS = (
    r"not found function \w+",
    r"\w+ is not a function: \w+",
    r"result type \d is not \w+",
    r"expect the returned \w+ type is table but got \w+",
    r"expected result type 'table' or 'nil' from GetComponents, but got '\w+'",
    r"call function \w+ is not supported in karmada customized resourceinterpreter\.",
    r"The Lua function string\.\w+ is not supported by Karmada\.",
    r"bad argument #\d to \w+ \([\w ]+ expected, got \w+\)",
    r"get\w+ only accepts \w+ argument",
    r"fail to convert lua value",
    r"cannot parse '.*?'",
    r"cannot encode [\w ]+",
    r"json: unsupported value: [+\w-]+",
    r"json unmarshal obj failed: Object 'Kind' is missing",
    r"json unmarshal obj failed",
    r"missing required \w+",
    r"dependency can not leave name and labelSelector all empty",
    r"unexpectedly returned a negative value",
)
_SEEN = re.compile("|".join(_WORDS))


def agree(ours: Outcome, theirs: Outcome) -> bool:
    """Whether both are the same results, or both errors that users know by the same words."""
    if ours.defect:
        return False
    if ours.results is None or theirs.results is None:
        return ours.results is theirs.results and words(theirs.error) in ours.error
    return same(_ordered(ours.results), _ordered(theirs.results))


def words(error: str) -> str:
    """Give the words by which a user may know an upstream error: the first of them, since one error wraps another.

    >>> words("<string>:3: bad argument #1 to resourceAdd (string expected, got number)")
    'bad argument #1 to resourceAdd (string expected, got number)'
    """
    match = _SEEN.search(error)
    return match.group() if match else ""


def _ordered(results: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Sort the components: a script that walks a map with pairs gives them in any order."""
    components = results.get("components")
    if not components:
        return results
    return {"components": sorted(components, key=lambda component: json.dumps(component, sort_keys=True))}
