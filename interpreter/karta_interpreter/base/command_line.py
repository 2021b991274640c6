"""Command lines for people to paste, and words of objects in them and in messages.

Quotes do not keep a shell's program from taking a word as an option, or as a name in another namespace. So a word of an
object has the form that Kubernetes gives it, or there is no command.
"""

import json
import re
import shlex
from typing import Final

from karta_interpreter.base.errors import WordError
from karta_interpreter.base.k8s.request_path import FORMS, LONGEST_LABEL

_NAMES: Final = "[A-Za-z0-9][-A-Za-z0-9 ,./:_]*"
"""What a definition may call objects by in addition to their names."""
_FORMS: Final = {**FORMS, "names": _NAMES}
# Not the path "-", which stands for standard input.
_LIKE_OPTION: Final = re.compile("-.")


def command_line(template: str, *own: object, **words: str) -> str:
    """Return a command. The template has numbers for the user's ``own`` paths, and a form for each word of an object.

    Raises WordError for a word that does not have its form.

    >>> command_line("kubectl get --namespace={namespace} -- Job {name}", namespace="ml", name="sum")
    'kubectl get --namespace=ml -- Job sum'
    >>> command_line("karta-interpreter test {0}", "--my cases")
    "karta-interpreter test './--my cases'"
    >>> command_line("kubectl get -- Job {name}", name="--all")
    Traceback (most recent call last):
    karta_interpreter.base.errors.WordError: "--all" is not the name of an object: there is no command
    """
    for form, word in words.items():
        if not _fits(form, word):
            raise WordError(f"{shown(form, word)} is not the {form} of an object: there is no command")
    paths = [f"./{path}" if _LIKE_OPTION.match(str(path)) else path for path in own]
    return shlex.join(part.format(*paths, **words) for part in shlex.split(template))


def shown(form: str, word: object) -> str:
    r"""Return a word of an object for a message, quoted and without control characters if it does not have its form.

    >>> print(shown("name", "sum"), shown("name", "sum --all\n"))
    sum "sum --all\n"
    """
    return str(word) if _fits(form, word) else json.dumps(str(word)[:LONGEST_LABEL])


def _fits(form: str, word: object) -> bool:
    return isinstance(word, str) and re.fullmatch(_FORMS[form], word) is not None
