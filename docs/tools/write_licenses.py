"""THIRD_PARTY_LICENSES: what an image of the server holds of other projects, with the texts of their licences.

They are those of the packages that requirements/run.txt locks, as they are installed.
"""

import re
import sys
from collections import defaultdict
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from textwrap import fill

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

ROOT = Path(__file__).parents[2]
FILE = ROOT / "THIRD_PARTY_LICENSES"

_LOCK = ROOT / "requirements" / "run.txt"
_PINNED = re.compile(r"^([\w.-]+)==([^ \\\n;]+)", re.MULTILINE)
_TEXT = re.compile(r"[^/]+\.dist-info/(licenses/.*|(LICEN[CS]E|COPYING|NOTICE|AUTHORS)[^/]*)", re.IGNORECASE)

_STATED = {
    "aiosignal": "Apache-2.0",
    "google-re2": "BSD-3-Clause",
    "lupa": "MIT",
    "uvloop": "MIT OR Apache-2.0",
}
"""The licences of packages whose metadata has no SPDX expression: as their licence files have them."""

_CONTAINS = {
    "cffi": "libffi (MIT)",
    "cryptography": "OpenSSL (Apache-2.0)",
    "google-re2": "RE2 (BSD-3-Clause), Abseil (Apache-2.0), pybind11 (BSD-3-Clause)",
    "jq": "jq (MIT), Oniguruma (BSD-2-Clause)",
    "lupa": "Lua (MIT), LuaJIT (MIT)",
    "pyyaml": "libyaml (MIT)",
    "uvloop": "libuv (MIT)",
}
"""What else the wheels of packages hold in compiled form."""

_HEAD = """\
THIRD-PARTY SOFTWARE

karta-interpreter is under the Apache License 2.0 (LICENSE). Its image holds the packages below, which its server
needs, as their projects publish them; the base image has its own licences. `make generate` writes this file from the
packages of requirements/run.txt as they are installed.
"""
_RULE = "=" * 100


def pages() -> dict[Path, str]:
    """Return the file by its path; nothing where other versions than the locked ones are installed."""
    locked = _PINNED.findall(_LOCK.read_text(encoding="utf-8"))
    found = [(name, _installed(name, version)) for name, version in locked]
    missing = [name for name, package in found if not package]
    if missing:
        sys.stderr.write(f"{FILE.name} is left out: not installed as locked: {', '.join(missing)}\n")
        return {}
    packages = {name: package for name, package in found if package}
    rows = [_row(name, package) for name, package in packages.items()]
    texts = _texts(packages)
    parts = [f"{_RULE}\n{fill(', '.join(names), 100)}\n{_RULE}\n\n{text}\n" for text, names in texts.items()]
    return {FILE: "\n".join([_HEAD, "".join(rows), *parts])}


def _installed(name: str, version: str) -> Distribution | None:
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return None
    return found if found.version == version else None


def _row(name: str, package: Distribution) -> str:
    contained = f"; its wheels contain {_CONTAINS[name]}" if name in _CONTAINS else ""
    return f"- {name} {package.version}: {_licence(name, package)}{contained}\n"


def _licence(name: str, package: Distribution) -> str:
    """Return the SPDX expression that a package states."""
    stated = next((package.metadata[key] for key in ("License-Expression", "License") if key in package.metadata), "")
    try:
        return canonicalize_license_expression(_STATED.get(name, stated))
    except InvalidLicenseExpression as error:
        raise SystemExit(f"{name}: {error}; add its licence to {Path(__file__).relative_to(ROOT)}") from error


def _texts(packages: dict[str, Distribution]) -> dict[str, list[str]]:
    """Return each text of a licence once, with the packages that it is of."""
    texts: dict[str, str] = {}
    names: dict[str, list[str]] = defaultdict(list)
    for name, package in packages.items():
        files = [file for file in package.files or () if _TEXT.fullmatch(str(file))]
        if not files:
            raise SystemExit(f"{name}: its wheel has no text of its licence")
        for text in (file.read_text(encoding="utf-8") for file in files):
            words = " ".join(text.split())  # the same text is wrapped and indented in several ways
            if name not in names[words]:
                names[words].append(name)
            texts.setdefault(words, _tidy(text))
    return {text: names[words] for words, text in texts.items()}


def _tidy(text: str) -> str:
    """Return a text as every platform and editor leaves it."""
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
