"""The one exception tree of this project: every error is an `InterpreterError`, which edges catch."""

from enum import Enum, auto
from typing import Final


class InterpreterError(Exception):
    """Base of every error that this package raises on purpose."""


class InterpretationError(InterpreterError):
    """An operation that has no right answer for an object.

    ``code`` is an HTTP-like number for ``response.status.code``: 400 the request asks for something that
    cannot be, 404 no definition, 422 the object or the definition does not give the answer, 504 too slow. ``path`` is
    the place in the input that is wrong, ``place`` the field of the definition, if they are known. ``reason`` is the
    message without the names of the field and its expression.
    """

    def __init__(
        self, message: str, *, code: int = 422, path: tuple[str | int, ...] = (), place: object = "", reason: str = ""
    ) -> None:
        super().__init__(message)
        self.code, self.path, self.place, self.reason = code, path, place, reason or message


class QueryError(InterpretationError):
    """A jq expression that cannot be used, or failed on an object. An operation that meets one has no answer."""


class QuerySyntaxError(QueryError):
    """An expression that is not jq. ``start`` and ``end`` are offsets into its text."""

    def __init__(self, message: str, *, start: int, end: int, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end
        self.hint = hint


class QueryRefusedError(QueryError):
    """An expression that uses a construct which a definition may not use."""


class QueryEvaluationError(QueryError):
    """An expression that failed on the object it was given."""


class QueryLimitError(QueryEvaluationError):
    """An evaluation stopped because of its time, its memory or its number of results."""


class QueryResultsError(QueryLimitError):
    """An evaluation that goes through more elements, or gives more results, than it may."""


class QueryStoppedError(QueryLimitError):
    """An evaluation that got no time to end, which tells nothing about the object."""


class QueryReferenceError(QueryEvaluationError):
    """An evaluation that reads a reference which has no value."""


class QueryAbsentError(QueryReferenceError):
    """An evaluation that reads a reference that stays without a value: asking again does not help."""


def is_of_object(error: InterpretationError) -> bool:
    """Return whether an error comes from what an object holds, or from an object that is absent.

    Other errors come from too many results, too little time, or what cannot be looked up now. An answer without what
    failed would be smaller than the right one.
    """
    kinds = {type(error), type(error.__cause__)}
    return not kinds & {QueryResultsError, QueryStoppedError, QueryReferenceError}


class QueryRaisedError(QueryEvaluationError):
    """An expression that refuses its object in the words of its author: ``error("...")``."""


class QueryWriteError(QueryError):
    """A value that cannot be written through an expression."""


class LuaError(InterpreterError):
    """A script that cannot be used, or failed. ``line`` counts from 1 in the script, 0 if unknown.

    The message is in the words of Karmada, and ``hint`` has the remedy.
    """

    def __init__(self, message: str, *, line: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.line, self.hint = line, hint


class LuaSyntaxError(LuaError):
    """A script that is not Lua."""


class LuaRunError(LuaError):
    """A script that failed on the object it was given, or returned a result that its operation does not take."""


class LuaLimitError(LuaError):
    """A script that was stopped because of its time or its memory."""


class WorkloadError(InterpreterError):
    """A workload that cannot be read, or cannot be changed as asked."""


class ComponentNotFoundError(WorkloadError):
    """No component, or no instance of one, has that name."""


class InstanceCountMismatchError(WorkloadError):
    """The values given and the instances of a component do not pair up."""


class PathNotWritableError(WorkloadError):
    """A place that no value can be written to: it is computed, overlaps another one, or must not change."""


class WriteVerificationError(WorkloadError):
    """The written text does not read back as the given value. Nothing was changed."""


class WordError(InterpreterError):
    """A word of an object that cannot be in a command, because it does not have the form that Kubernetes gives it."""


class QuantityError(InterpreterError):
    """Text that is not a Kubernetes quantity."""


class ManifestError(InterpreterError):
    """YAML or JSON text that cannot be read. ``line`` and ``column`` count from 1, 0 if unknown."""

    def __init__(self, message: str, *, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class RequestError(InterpreterError):
    """A webhook request that cannot be read, or that the server cannot answer now. ``status`` is an HTTP status."""

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class ExportError(InterpreterError):
    """A definition, or an operation of it, that another form cannot express. Names field, expression and reason."""


class ClusterError(InterpreterError):
    """An API server that refuses or cannot be reached.

    ``status`` is the HTTP status, or 0 if there was no answer. ``reason`` is the reason of the Kubernetes ``Status``.
    """

    def __init__(self, message: str, *, status: int = 0, reason: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


# The `reason` of a ClusterError about a kubeconfig that does not exist, which is wrong usage.
NO_KUBECONFIG: Final = "NoKubeconfig"


class StopCause(Enum):
    """Why a child process does not answer."""

    MEMORY = auto()
    TIME = auto()
    PROCESSOR_TIME = auto()
    KILLED = auto()
    BUSY = auto()  # every process that there may be works for others
    NOT_STARTED = auto()
    DEFECT = auto()


class SandboxError(InterpreterError):
    """A child process that was stopped, has died or cannot be had."""

    def __init__(self, message: str, cause: StopCause) -> None:
        super().__init__(message)
        self.cause = cause

    @property
    def is_of_request(self) -> bool:
        """Whether the request took more time or memory than it may."""
        return self.cause in {StopCause.MEMORY, StopCause.TIME, StopCause.PROCESSOR_TIME}

    def after(self, seconds: float) -> str:
        """Return the reason for a request that had so many seconds. Its process knows how many of them were left."""
        return f"it takes longer than {seconds:.3g} s" if self.cause is StopCause.TIME else str(self)


class SuiteError(InterpreterError):
    """A golden suite that cannot be read."""


class RecordingError(InterpreterError):
    """A recording of calls, or a part of it, that cannot be read."""


class ServeError(InterpreterError):
    """The server cannot start. The message names the setting to change."""


class SettingsError(ServeError):
    """Settings that are missing, wrong or against each other. Nothing was started."""
