"""Authorizes requests to this API: by bearer tokens from a file, or by users and roles of the Kubernetes API server."""

import hashlib
import hmac
import time
from http import HTTPStatus
from pathlib import Path
from typing import Final, TypeAlias

from karta_interpreter.base.errors import ClusterError, ServeError
from karta_interpreter.base.k8s import JSON, Object, edit, request_path
from karta_interpreter.base.rate_limit import Clock
from karta_interpreter.definitions.karta import VERSION, api_group
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.web.types_api.models import ApiError, unavailable
from karta_interpreter.webhook.log import log

_LEAST: Final = 16  # characters of a token: shorter ones can be guessed
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="karta-interpreter"'}
_USER_REVIEWS: Final = request_path("authentication.k8s.io", "v1", "tokenreviews")
_ACCESS_REVIEWS: Final = request_path("authorization.k8s.io", "v1", "subjectaccessreviews")
# How long an answer is used again, as in aggregated API servers (``CacheTTL`` in ``k8s.io/apiserver``).
_KEPT_SECONDS: Final = 10.0
_MOST_KEPT: Final = 10_000


def bearer_token(authorization: str | None) -> str:
    """Return the token of an ``Authorization`` header. Raises ApiError.

    >>> bearer_token("Bearer 0123456789abcdef")
    '0123456789abcdef'
    """
    scheme, _, token = (authorization or "").strip().partition(" ")
    # Bytes of a header that are not UTF-8 are surrogates, which cannot be printed.
    if scheme.lower() != "bearer" or not token.strip() or not token.isprintable():
        raise unauthenticated(
            "the request needs a header Authorization: Bearer TOKEN"
            + ", and this TOKEN is empty or not UTF-8" * (scheme.lower() == "bearer")
        )
    return token.strip()


def unauthenticated(detail: str) -> ApiError:
    """Return the error for a request without a user."""
    return ApiError(HTTPStatus.UNAUTHORIZED, detail, headers=_CHALLENGE)


class TokenFile:
    """Tokens from a file, one on each line, followed by the name of its user. All users may do everything.

    The file is read for every request, so that a change takes effect at once.
    Raises ServeError if the file cannot be used at the start.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._logged = ""
        if unnamed := [user for _, user in self._read() if user.startswith("line ")]:
            log.warning("tokens have no user", lines=unnamed, hint="write the name of its user behind each token")

    async def user(self, token: str) -> str:
        """Return the name next to the token. Raises ApiError: 401, or 503 if the file cannot be used.

        Its user cannot mend the file, so the log has the reason, once until it changes.
        """
        try:
            pairs, self._logged = self._read(), ""
        except ServeError as error:
            if str(error) != self._logged:
                log.warning("requests are refused", reason=str(error))
            self._logged = str(error)
            raise unavailable("the token file cannot be used") from error
        # All of them are compared: how long it takes gives nothing away.
        users = [name for text, name in pairs if hmac.compare_digest(text.encode(), token.encode())]
        if not users:
            raise unauthenticated(
                "the token is not known: write it as it begins a line of the token file, without quotes or a name"
            )
        return users[0]

    async def authorize(self, token: str, verb: str) -> None:
        """Allow everything."""

    def _read(self) -> list[tuple[str, str]]:
        try:
            return self._pairs()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise ServeError(f"the token file {self._path} cannot be used: {reason}") from error

    def _pairs(self) -> list[tuple[str, str]]:
        # Editors on Windows begin a file with a byte order mark.
        fields = {
            number: line.split(maxsplit=1)
            for number, line in enumerate(self._path.read_text(encoding="utf-8-sig").splitlines(), 1)
            if line.strip()
        }
        # A user without a name is known by the line.
        pairs = [(token, name[0].strip() if name else f"line {number}") for number, (token, *name) in fields.items()]
        if not pairs:
            raise ValueError("it has no token; a line has one, then the name of its user")
        if bad := [n for n, (token, *_) in fields.items() if len(token) < _LEAST or {",", ":"} & set(token)]:
            raise ValueError(
                f"the token in line {bad[0]} has fewer than {_LEAST} characters, or a colon or comma; "
                "a line has the token, a space, then the name of its user"
            )
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a token stands there twice; each user has one of their own")
        return pairs


class ClusterAccess:
    """Asks the API server for the user of a token (TokenReview), and for that user's rights (SubjectAccessReview).

    A user who may create, update, delete, get or list Kartas may do the same with workload types. Answers are used
    again for ten seconds.
    """

    def __init__(self, api: ApiServer, clock: Clock = time.monotonic) -> None:
        self._api = api
        self._clock = clock
        # For each question: the time until which its answer is used, and the answer.
        self._kept: dict[tuple[str, str], tuple[float, JSON]] = {}

    async def user(self, token: str) -> str:
        """Return the user's name, as RBAC knows it. Raises ApiError: 401, or 503 if the API server cannot be asked."""
        return str((await self._reviewed_user(token)).get("username"))

    async def authorize(self, token: str, verb: str) -> None:
        """Raise ApiError, 403, unless the user may do this with Kartas. ``verb`` is a verb of RBAC."""
        user = await self._reviewed_user(token)
        resource = {"group": api_group(), "version": VERSION, "resource": "kartas", "verb": verb}
        fields = {
            "user": user.get("username"),
            **{field: user[field] for field in ("uid", "groups", "extra") if field in user},
        }
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
        spec = {"spec": {"resourceAttributes": resource, **fields}}
        answer = await self._ask((token, verb), _ACCESS_REVIEWS, review | spec)
        if edit.get(answer, ("allowed",)) is not True:
            who = user.get("username")
            raise ApiError(
                HTTPStatus.FORBIDDEN, f"{who} may not {verb} kartas.{api_group()}; a ClusterRole has to allow it"
            )

    async def _reviewed_user(self, token: str) -> Object:
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
        answer = await self._ask((token, ""), _USER_REVIEWS, review)
        user = edit.get(answer, ("user",))
        if edit.get(answer, ("authenticated",)) is not True or not isinstance(user, dict) or not user.get("username"):
            raise unauthenticated("the API server does not know the token")
        return user

    async def _ask(self, about: tuple[str, str], path: str, review: Object) -> JSON:
        # No token stays in memory for longer than its request.
        key, now = (hashlib.sha256(about[0].encode()).hexdigest(), about[1]), self._clock()
        until, answer = self._kept.get(key, (now, None))
        if now < until:
            return answer
        try:
            answer = (await self._api.create(path, review)).get("status")
        except ClusterError as error:
            raise unavailable("the API server cannot be asked about the token") from error
        # If it is full of valid answers, new ones are not kept: a flood of tokens must not displace answers of others.
        if len(self._kept) >= _MOST_KEPT:
            self._kept = {name: entry for name, entry in self._kept.items() if now < entry[0]}
        if len(self._kept) < _MOST_KEPT:
            self._kept[key] = now + _KEPT_SECONDS, answer
        return answer


Access: TypeAlias = TokenFile | ClusterAccess
