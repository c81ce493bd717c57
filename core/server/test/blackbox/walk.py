"""Walks the interface document section by section against a running service, as an outsider.

Reads SVC_BASE_URL, SVC_CERT_FILE, SVC_KEYS (a JSON object of API keys by role), SVC_SPEECH (a file of raw PCM) and
SVC_OPERATOR_URL (POST /ACTION does what only an operator can do). With SVC_EXPIRY=1 it also waits for a credential to
expire, and with SVC_ENGINE_NODE=1 it ends with the loss of the engine node. Prints one line of JSON: statements and
deviations.
"""

import asyncio
import json
import os
import pathlib
import ssl

import contract_sections
import format_sections
import http_sections
import httpx
import offence_sections
import outage_sections
import stream_sections
import upgrade_sections
from report import Report
from walker import Walker

HTTP = ("models", "session_fields", "balance", "bodies", "authentication", "credit", "idempotency", "versions")
STREAM = ("credentials", "frames", "early_audio", "many_sessions")
CONTRACT = (
    contract_sections.config,
    contract_sections.ids,
    contract_sections.alignment,
    contract_sections.digits,
    contract_sections.duplicate_members,
    contract_sections.turns,
    contract_sections.bunched_flushes,
    contract_sections.flushes_after_back_pressure,
    offence_sections.offences,
    upgrade_sections.origins,
    upgrade_sections.handshakes,
    upgrade_sections.unusual_requests,
    format_sections.suspicious_audio,
)
# These mostly wait, so they run beside the others.
WAITING = (contract_sections.live_receipt, offence_sections.suspension, upgrade_sections.slow_requests)


async def walk() -> Report:
    report = Report()
    tls = ssl.create_default_context(cafile=os.environ["SVC_CERT_FILE"])
    speech = pathlib.Path(os.environ["SVC_SPEECH"]).read_bytes()
    keys = json.loads(os.environ["SVC_KEYS"])
    async with httpx.AsyncClient(base_url=os.environ["SVC_BASE_URL"], verify=tls, timeout=20) as http:
        api = http_sections.Api(http, keys)
        walker = Walker(api, tls, report, speech, os.environ["SVC_OPERATOR_URL"])
        waiting = {section.__name__: asyncio.create_task(section(walker)) for section in WAITING}
        if os.environ.get("SVC_EXPIRY") == "1":
            waiting["expiry"] = asyncio.create_task(stream_sections.expiry(api, tls, report))
        for name in HTTP:
            await attempt(report, name, getattr(http_sections, name)(api, report))
        await attempt(report, "conversation", stream_sections.conversation(api, tls, report, speech))
        for name in STREAM:
            await attempt(report, name, getattr(stream_sections, name)(api, tls, report))
        for section in CONTRACT:
            await attempt(report, section.__name__, section(walker))
        for name, task in waiting.items():
            await attempt(report, name, task)
        for section in (outage_sections.refused_settlement, outage_sections.slow_recogniser):
            await attempt(report, section.__name__, section(walker))
        if os.environ.get("SVC_ENGINE_NODE") == "1":
            await attempt(report, "lost_engine", outage_sections.lost_engine(walker))
    return report


async def attempt(report: Report, name: str, section) -> None:
    """A section that cannot be walked to its end is a deviation; the others still run."""
    try:
        await section
    except Exception as error:  # noqa: BLE001
        report.check(name, "can be walked to its end", False, f"{type(error).__name__}: {error}"[:120])


asyncio.run(walk()).print()
