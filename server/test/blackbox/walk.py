"""Walks the interface document section by section against a running service, as an outsider.

Reads SVC_BASE_URL, SVC_CERT_FILE, SVC_KEYS (a JSON object of API keys by role) and SVC_SPEECH (a file of raw PCM).
With SVC_EXPIRY=1 it also waits for a credential to expire. Prints one line of JSON: statements and deviations.
"""

import asyncio
import json
import os
import pathlib
import ssl

import contract_sections
import http_sections
import httpx
import stream_sections
from report import Report

HTTP = ("models", "session_fields", "balance", "bodies", "authentication", "credit", "idempotency", "versions")
CONTRACT = ("finals_before_a_close", "config_and_ids", "bunched_flushes")
STREAM = ("credentials", "frames", "early_audio", "many_sessions")


async def walk() -> Report:
    report = Report()
    tls = ssl.create_default_context(cafile=os.environ["SVC_CERT_FILE"])
    speech = pathlib.Path(os.environ["SVC_SPEECH"]).read_bytes()
    keys = json.loads(os.environ["SVC_KEYS"])
    async with httpx.AsyncClient(base_url=os.environ["SVC_BASE_URL"], verify=tls, timeout=20) as http:
        api = http_sections.Api(http, keys)
        waiting = []
        if os.environ.get("SVC_EXPIRY") == "1":
            waiting.append(asyncio.create_task(stream_sections.expiry(api, tls, report)))
        for name in HTTP:
            await attempt(report, name, getattr(http_sections, name)(api, report))
        await attempt(report, "conversation", stream_sections.conversation(api, tls, report, speech))
        for name in STREAM:
            await attempt(report, name, getattr(stream_sections, name)(api, tls, report))
        for name in CONTRACT:
            await attempt(report, name, getattr(contract_sections, name)(api, tls, report))
        for task in waiting:
            await attempt(report, "expiry", task)
    return report


async def attempt(report: Report, name: str, section) -> None:
    """A section that cannot be walked to its end is a deviation; the others still run."""
    try:
        await section
    except Exception as error:  # noqa: BLE001
        report.check(name, "can be walked to its end", False, f"{type(error).__name__}: {error}"[:120])


asyncio.run(walk()).print()
