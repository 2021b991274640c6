"""Group, version and kind: which type an object has."""

from typing import NamedTuple, Self

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import JSON, Object, type_name


class GVK(NamedTuple):
    """A Kubernetes type.

    >>> GVK("apps", "v1", "Deployment").api_version
    'apps/v1'
    >>> print(GVK("", "v1", "Pod"))
    v1, Kind=Pod
    """

    group: str
    version: str
    kind: str

    @classmethod
    def parse(cls, api_version: str, kind: str) -> Self:
        """The type that a manifest's ``apiVersion`` and ``kind`` name.

        Raises InterpretationError (code 400) when they name none.

        >>> GVK.parse("batch/v1", "Job")
        GVK(group='batch', version='v1', kind='Job')
        """
        group, slash, version = api_version.rpartition("/")
        if not version or "/" in group or (slash and not group):
            raise InterpretationError(f'apiVersion "{api_version}" is not "version" or "group/version"', code=400)
        if not kind:
            raise InterpretationError(f'the kind of apiVersion "{api_version}" is empty', code=400)
        return cls(group, version, kind)

    @classmethod
    def of(cls, obj: Object) -> Self:
        """The type of an object; raises InterpretationError (code 400) when the object has none."""
        return cls.parse(_text(obj, "apiVersion"), _text(obj, "kind"))

    @property
    def api_version(self) -> str:
        """The value of ``apiVersion`` in a manifest; the core group is not named there."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def type_meta(self) -> dict[str, str]:
        """The fields of a manifest that name the type.

        >>> GVK("batch", "v1", "Job").type_meta
        {'apiVersion': 'batch/v1', 'kind': 'Job'}
        """
        return {"apiVersion": self.api_version, "kind": self.kind}

    @property
    def names(self) -> tuple[str, str]:
        """What people call the type, in small letters: its kind, and its kind with the API version."""
        return self.kind.lower(), f"{self.api_version}/{self.kind}".lower()

    def __str__(self) -> str:
        return f"{self.api_version}, Kind={self.kind}"


def _text(obj: Object, field: str) -> str:
    value: JSON = obj.get(field)
    if isinstance(value, str):
        return value
    found = "has none" if field not in obj else f"has {type_name(value)} there"
    raise InterpretationError(f"an object needs a string in {field}; this one {found}", code=400)
