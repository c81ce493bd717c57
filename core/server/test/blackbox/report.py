"""Counts the statements of the interface document that were checked, and the deviations found."""

import json
import re
import uuid

UUID = re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
INTEGER = re.compile(r"^\d+$")


class Report:
    def __init__(self) -> None:
        self.statements = 0
        self.deviations: list[str] = []

    def check(self, section: str, statement: str, holds: bool, found: object = "") -> None:
        """Records one statement of a section. `found` must not contain a key or a credential."""
        self.statements += 1
        if not holds:
            self.deviations.append(f"{section}: {statement} (found: {found!r})"[:300])

    def equal(self, section: str, statement: str, found: object, expected: object) -> None:
        self.check(section, statement, found == expected, found)

    def fields(self, section: str, name: str, body: dict, expected: set[str]) -> None:
        """Checks that all required fields are there."""
        missing = sorted(expected - body.keys())
        self.check(section, f"{name} has all required fields", not missing, missing)

    def error(self, section: str, response, status: int, kind: str, code: str | None = None) -> None:
        """Checks status, body, type and headers of an error response (2.6 and 7)."""
        what = f"{status} {code or kind}"
        self.equal(section, f"status {what}", response.status_code, status)
        if response.status_code < 400:
            return
        error = response.json().get("error", {})
        self.fields("2.6", f"the error body of {what}", error, {"type", "code", "message", "request_id"})
        self.check("2.6", f"the fields of {what} are strings", all(isinstance(v, str) for v in error.values()))
        self.equal("7", f"type of {what}", error.get("type"), kind)
        if code is not None:
            self.equal("7", f"code of {what}", error.get("code"), code)
        self.equal(
            "7", f"request_id of {what} is the header", error.get("request_id"), response.headers.get("x-request-id")
        )
        self.request_id(section, f"X-Request-Id of {what}", response)
        if status in (429, 503):
            wait = response.headers.get("retry-after", "")
            self.check("7", f"{what} has an integer Retry-After", bool(INTEGER.match(wait)), wait)

    def request_id(self, section: str, what: str, response) -> None:
        value = response.headers.get("x-request-id", "")
        self.check(section, f"{what} is a UUID", bool(UUID.match(value)) and bool(uuid.UUID(value)), value)

    def print(self) -> None:
        print(json.dumps({"statements": self.statements, "deviations": self.deviations}))
