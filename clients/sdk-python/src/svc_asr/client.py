"""The HTTP API: models, sessions and usage. For trusted servers, which hold the API key."""

from __future__ import annotations

import asyncio
import json
import os
import random
import uuid
from typing import Any
from urllib.parse import urlsplit

import httpx

from ._close import is_lost_key, lost_key, lost_session
from ._retry import BLOCKED, RetryLimits, WaitNotice, is_paced, retry_wait_ms
from ._tls import trusting
from ._unanswered_keys import UnansweredKeys
from .errors import SvcError, connection_error, error_from_response, timeout_error
from .wire import AsrSession, CreditBalance, Model, ModelId

API_KEY_PREFIX = "svc_live_v1_"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class SvcClient:
    """Holds the permanent key. Browsers and phones get only the JSON of a session.

    ``base_url`` and ``api_key`` default to the environment's SVC_BASE_URL and SVC_API_KEY. 429, 503 and lost
    connections are retried up to ``retries_max`` times and for ``wait_max`` seconds together. ``timeout`` limits one
    attempt and ``deadline`` a whole call. On a server that answers a browser set ``deadline=3``: brief trouble is
    still retried, and every other refusal is raised at once, with its ``retry_after_ms``.
    ``ca`` is a PEM file with the certificates of a private authority, trusted besides those of the system. Pass it to
    `open_stream` too.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 10.0,
        retries_max: int = 6,
        wait_max: float = 90.0,
        deadline: float = 120.0,
        allow_insecure: bool = False,
        ca: str | os.PathLike[str] | None = None,
    ) -> None:
        base_url = base_url or os.environ.get("SVC_BASE_URL")
        if not base_url:
            raise SvcError("missing_base_url", "Pass base_url, or set SVC_BASE_URL.")
        api_key = api_key or os.environ.get("SVC_API_KEY") or None
        _check(base_url, api_key, allow_insecure)
        self._api_key = api_key
        self.ca = ca
        self._limits = RetryLimits(retries_max, wait_max * 1000)
        self._timeout = timeout
        self._deadline = deadline
        # A redirect would send the key to another address.
        self._http = httpx.AsyncClient(
            base_url=base_url.rstrip("/"),
            timeout=timeout,
            follow_redirects=False,
            verify=True if ca is None else trusting(ca),
        )
        self.models = Models(self)
        self.sessions = Sessions(self)
        self.usage = Usage(self)

    async def __aenter__(self) -> SvcClient:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections. The client cannot be used afterwards."""
        await self._http.aclose()

    async def _request(
        self,
        method: str,
        path: str,
        *,
        kind: str,
        body: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
        needs_key: bool = True,
    ) -> dict[str, Any]:
        if needs_key and self._api_key is None:
            raise SvcError("missing_api_key", "Pass api_key, or set SVC_API_KEY.")
        headers = {"accept": "application/json"}
        if self._api_key is not None:
            headers["authorization"] = f"Bearer {self._api_key}"
        if idempotency_key is not None:
            headers["idempotency-key"] = idempotency_key
        notice = WaitNotice(self._deadline)
        try:
            return await self._retried(method, path, headers, body, kind, notice)
        finally:
            notice.cancel()

    async def _retried(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        body: dict[str, Any] | None,
        kind: str,
        notice: WaitNotice,
    ) -> dict[str, Any]:
        now = asyncio.get_running_loop().time
        deadline_at = now() + self._deadline
        waited_ms = 0.0
        failures = 0
        paced = 0
        is_after_loss = is_lost_key(headers.get("idempotency-key"))
        has_just_closed = not is_after_loss
        while True:
            attempt = self._attempt(method, path, headers, body, kind)
            try:
                # httpx limits the time between two bytes only.
                limit = self._timeout * (_after_loss() if is_after_loss else 1)
                limit = min(limit, max(0.001, deadline_at - now()))
                answer = await asyncio.wait_for(attempt, limit)
            except asyncio.TimeoutError:
                answer = timeout_error()
            if not isinstance(answer, SvcError):
                return answer
            failures += 1
            notice.failed(answer)
            wait_ms = retry_wait_ms(
                answer,
                failures,
                waited_ms,
                self._limits,
                random.random,
                has_just_closed=has_just_closed,
                paced=paced,
            )
            if wait_ms is None or now() + wait_ms / 1000 >= deadline_at:
                raise answer
            await asyncio.sleep(wait_ms / 1000)
            waited_ms += wait_ms
            paced += is_paced(answer.retry_after_ms)
            has_just_closed = has_just_closed and answer.code != BLOCKED

    async def _attempt(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        body: dict[str, Any] | None,
        kind: str,
    ) -> dict[str, Any] | SvcError:
        try:
            response = await self._http.request(method, path, headers=headers, json=body)
        except httpx.TimeoutException:
            return timeout_error()
        except httpx.TransportError as error:
            return connection_error(error)
        try:
            answer: Any = response.json()
        except ValueError:
            answer = None
        if not response.is_success:
            return error_from_response(
                response.status_code,
                answer,
                response.headers.get("x-request-id"),
                response.headers.get("retry-after"),
            )
        if isinstance(answer, dict) and answer.get("object") == kind:
            return answer
        return SvcError(
            "unexpected_answer",
            "The response is not from the service. Check the base URL.",
            status=response.status_code,
        )


def _after_loss() -> float:
    """A stream that lost its connection may ask while its network is still gone. Its attempts are short, so that it is
    back soon after the network, and of different lengths, because others lost theirs at the same moment."""
    return 0.25 + 0.2 * random.random()


class Models:
    def __init__(self, client: SvcClient) -> None:
        self._client = client

    async def list(self) -> tuple[Model, ...]:
        """Lists the models. Needs no key."""
        answer = await self._client._request("GET", "/v1/models", kind="list", needs_key=False)
        return tuple(Model.from_wire(each) for each in answer["data"])


class Sessions:
    def __init__(self, client: SvcClient) -> None:
        self._client = client
        self._unanswered = UnansweredKeys()

    async def create(
        self,
        model: ModelId,
        *,
        max_audio_seconds: int | None = None,
        idempotency_key: str | None = None,
    ) -> AsrSession:
        """Reserves 1 to 300 seconds of audio (60 by default). Treat the result as a secret: it opens one stream.

        Without ``idempotency_key`` all attempts of a call share a random one, and so does the next call for the same if
        this one fails or is cancelled: the session of a lost response is not reserved twice.
        """
        body: dict[str, Any] = {"model": model}
        if max_audio_seconds is not None:
            body["max_audio_seconds"] = max_audio_seconds

        # One key for all attempts: a retry after a lost response must find the first reservation.
        async def ask(key: str) -> dict[str, Any]:
            return await self._client._request(
                "POST", "/v1/asr/sessions", kind="asr.session", body=body, idempotency_key=key
            )

        if idempotency_key is not None:
            return AsrSession.from_wire(await ask(idempotency_key))
        lost = lost_session.get()
        new_key = None if lost is None else lost_key(uuid.uuid4().hex, lost)
        return AsrSession.from_wire(await self._unanswered.use(json.dumps(body), ask, new_key))


class Usage:
    def __init__(self, client: SvcClient) -> None:
        self._client = client

    async def get(self) -> CreditBalance:
        """Returns the credit balance and the last 20 sessions."""
        answer = await self._client._request("GET", "/v1/usage", kind="credit_balance")
        return CreditBalance.from_wire(answer)


def _check(base_url: str, api_key: str | None, allow_insecure: bool) -> None:
    url = urlsplit(base_url)
    if url.scheme not in ("https", "http") or not url.hostname:
        raise SvcError(
            "invalid_base_url",
            "The base URL begins with https:// and has no /v1, as in https://asr.example.org.",
        )
    if api_key is None:
        return
    if not api_key.startswith(API_KEY_PREFIX):
        raise SvcError("invalid_api_key", f"An API key begins with {API_KEY_PREFIX}.")
    if url.scheme == "http" and url.hostname not in LOOPBACK and not allow_insecure:
        raise SvcError(
            "insecure_base_url",
            "Plain http would expose the API key. Use https, or allow_insecure in a closed test network.",
        )
