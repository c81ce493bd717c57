"""The exception of this package, and its construction from HTTP error responses."""

from __future__ import annotations

import ssl
from typing import Any

RETRYABLE_STATUSES = frozenset({429, 502, 503, 504})


class SvcError(Exception):
    """A failed request or stream.

    ``code`` is stable: a code of the API reference or one of this package's own (``connection_failed``,
    ``timeout``, ``stream_closed``, ``finish_timeout`` ...). New codes may appear, so decide by ``retryable``.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        type: str | None = None,
        status: int | None = None,
        request_id: str | None = None,
        session_id: str | None = None,
        close_code: int | None = None,
        retry_after_ms: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.type = type
        self.status = status
        self.request_id = request_id
        self.session_id = session_id
        self.close_code = close_code
        self.retry_after_ms = retry_after_ms

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


def error_from_response(
    status: int, body: object, request_id: str | None, retry_after: str | None
) -> SvcError:
    """Reads an error response. A response of another server, such as a proxy, still has its status."""
    told = body.get("error") if isinstance(body, dict) else None
    fields: dict[str, Any] = told if isinstance(told, dict) else {}

    def text(name: str) -> str | None:
        value = fields.get(name)
        return value if isinstance(value, str) else None

    return SvcError(
        text("code") or f"http_{status}",
        text("message") or f"The service responded with status {status}.",
        retryable=status in RETRYABLE_STATUSES,
        type=text("type"),
        status=status,
        request_id=text("request_id") or request_id,
        retry_after_ms=_milliseconds(retry_after),
    )


def connection_error(cause: BaseException) -> SvcError:
    """Describes a connection that could not be made. An untrusted certificate is not retried."""
    seen: BaseException | None = cause
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError):
            return SvcError(
                "untrusted_certificate",
                "The service's certificate is not trusted here. Check the URL, pass ca, or set SSL_CERT_FILE.",
            )
        seen = seen.__cause__ or seen.__context__
    return SvcError(
        "connection_failed",
        "The service cannot be reached. Check the base URL and the network, then retry.",
        retryable=True,
    )


def timeout_error() -> SvcError:
    return SvcError(
        "timeout",
        "The service did not answer in time. Check the network, then retry.",
        retryable=True,
    )


def _milliseconds(retry_after: str | None) -> float | None:
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return None
    return seconds * 1000 if 0 <= seconds < float("inf") else None
