"""Sections 2, 4.1 to 4.3, 5, 7, 8 and 9 of the interface document, with httpx."""

import datetime
import json

import httpx
from report import UUID, Report

KIKUYU, DHOLUO = "svc-asr-kikuyu-v1", "svc-asr-dholuo-v1"
FORMAT = {"encoding": "pcm_s16le", "sample_rate_hz": 16000, "channels": 1}


class Api:
    """A caller's trusted server."""

    def __init__(self, http: httpx.AsyncClient, keys: dict[str, str]) -> None:
        self.http = http
        self.keys = keys

    def headers(self, who: str | None) -> dict[str, str]:
        return {} if who is None else {"authorization": f"Bearer {self.keys[who]}"}

    async def create(self, who: str | None, body: object = None, **headers: str) -> httpx.Response:
        content = body if isinstance(body, (bytes, str)) else json.dumps(body or {"model": KIKUYU})
        sent = {"content-type": "application/json", **self.headers(who)}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.post("/v1/asr/sessions", content=content, headers=sent)

    async def usage(self, who: str | None) -> httpx.Response:
        return await self.http.get("/v1/usage", headers=self.headers(who))


async def models(api: Api, report: Report) -> None:
    response = await api.http.get("/v1/models")
    report.equal("4.1", "needs no credentials", response.status_code, 200)
    body = response.json()
    report.equal("4.1", "object is list", body.get("object"), "list")
    report.equal("2.1", "lists both models", {model["id"] for model in body["data"]}, {KIKUYU, DHOLUO})
    for model in body["data"]:
        name = model["id"]
        report.fields("2.1", name, model, {"language", "language_code"})
        constants = {"object": "model", "capability": "asr.streaming", "max_audio_seconds": 300, "audio": FORMAT}
        for field, value in constants.items():
            report.equal("2.1", f"{field} of {name}", model.get(field), value)
        report.check("9", f"{name} ends in its version", name.endswith("-v1"), name)


async def session_fields(api: Api, report: Report) -> None:
    before = datetime.datetime.now(datetime.UTC)
    response = await api.create("fields", {"model": DHOLUO, "max_audio_seconds": 7})
    report.equal("4.2", "creates with 201", response.status_code, 201)
    report.request_id("4.2", "X-Request-Id of 201", response)
    session = response.json()
    report.check("2.3", "id is a UUID", bool(UUID.match(session["id"])))
    constants = {"object": "asr.session", "status": "reserved", "model": DHOLUO}
    for field, value in constants.items():
        report.equal("2.3", field, session.get(field), value)
    report.check("2.3", "websocket_url begins with wss://", session["websocket_url"].startswith("wss://"))
    protocols = session["websocket_protocols"]
    report.equal("2.3", "two subprotocols", len(protocols), 2)
    report.equal("2.3", "the first subprotocol", protocols[0], "svc.realtime.v1")
    report.check("2.3", "the second subprotocol begins with svc.auth.", protocols[1].startswith("svc.auth."))
    expected = {**FORMAT, "max_audio_seconds": 7, "context_size": [56, 13]}
    report.equal("2.3", "audio", session["audio"], expected)
    report.equal("2.3", "credits.unit", session["credits"]["unit"], "audio_second")
    report.equal("2.3", "credits.reserved", session["credits"]["reserved"], 7)
    report.equal("2.3", "credits.remaining", session["credits"]["remaining"], 53)
    expires = datetime.datetime.fromisoformat(session["expires_at"])
    seconds = (expires - before).total_seconds()
    report.check("2.3", "expires 60 seconds after creation", 55 < seconds < 65, seconds)
    usage = (await api.usage("fields")).json()
    report.equal("3", "a fresh session is reserved", usage["recent_sessions"][0]["status"], "reserved")
    report.equal("2.5", "completed_at is null before the end", usage["recent_sessions"][0]["completed_at"], None)


async def balance(api: Api, report: Report) -> None:
    response = await api.usage("fields")
    report.equal("4.3", "status", response.status_code, 200)
    report.request_id("4.3", "X-Request-Id of usage", response)
    body = response.json()
    report.equal("2.4", "object", body.get("object"), "credit_balance")
    report.equal("2.4", "unit", body.get("unit"), "audio_millisecond")
    for field in ("available_ms", "reserved_ms", "consumed_ms"):
        report.check("2.4", f"{field} is an integer from 0", type(body.get(field)) is int and body[field] >= 0)
    total = body["available_ms"] + body["reserved_ms"] + body["consumed_ms"]
    report.equal("2.4", "the three figures add up to the granted credit", total, 60_000)
    record = body["recent_sessions"][0]
    names = {"id", "model", "status", "audio_ms", "billable_ms", "created_at", "completed_at"}
    report.fields("2.5", "a usage session", record, names)
    for field in ("audio_ms", "billable_ms"):
        report.check("2.5", f"{field} is an integer from 0", type(record[field]) is int and record[field] >= 0)


async def bodies(api: Api, report: Report) -> None:
    invalid = {
        "malformed JSON": "{model: 1}",
        "an empty body": b"",
        "another property": {"model": KIKUYU, "language": "ki"},
        "no model": {"max_audio_seconds": 5},
        "a model that is not a string": {"model": 5},
        "0 seconds": {"model": KIKUYU, "max_audio_seconds": 0},
        "301 seconds": {"model": KIKUYU, "max_audio_seconds": 301},
        "a text that a double rounds to 300": f'{{"model":"{KIKUYU}","max_audio_seconds":300.00000000000000001}}',
        "1.5 seconds": {"model": KIKUYU, "max_audio_seconds": 1.5},
        "seconds as a string": {"model": KIKUYU, "max_audio_seconds": "60"},
    }
    for what, body in invalid.items():
        report.error(f"2.2 {what}", await api.create("bodies", body), 400, "invalid_request_error")
    report.error("7", await api.create("bodies", {"model": "svc-asr-other-v1"}), 404, "model_not_found")
    for content_type in ("text/plain", "application/x-www-form-urlencoded"):
        response = await api.create("bodies", content_type=content_type)
        report.error(f"4.2 {content_type}", response, 415, "unsupported_media_type")
    padding = 16_384 - len(json.dumps({"model": KIKUYU}))
    exact = json.dumps({"model": KIKUYU}) + " " * padding
    report.error("8", await api.create("bodies", exact + " "), 413, "request_too_large")
    response = await api.create("bodies", exact, content_type="application/json; charset=utf-8; a=b")
    report.equal("8", "a body of 16 KiB passes", response.status_code, 201)
    report.equal("2.2", "max_audio_seconds defaults to 60", response.json()["credits"]["reserved"], 60)
    report.error("8", await api.create("bodies"), 429, "rate_limit_error", "concurrency_limit_exceeded")
    report.check(
        "7",
        "the 429 message names the active or reserved session",
        "already has an active or reserved ASR session" in (await api.create("bodies")).json()["error"]["message"],
    )


async def authentication(api: Api, report: Report) -> None:
    for name in ("fields", "expired", "revoked"):
        report.check("5", f"the {name} key has the prefix", api.keys[name].startswith("svc_live_v1_"))
    calls = {"POST sessions": api.create, "GET usage": api.usage}
    for call, send in calls.items():
        for who in (None, "unknown", "malformed", "expired", "revoked"):
            report.error(f"5 {call} {who}", await send(who), 401, "authentication_error")
        report.error(f"5 {call} inactive", await send("inactive"), 403, "permission_error")
    basic = await api.http.get("/v1/usage", headers={"authorization": "Basic eDp5"})
    report.error("5 basic", basic, 401, "authentication_error")
    report.error("5 scope", await api.create("dholuo_only"), 403, "permission_error", "model_scope_denied")


async def credit(api: Api, report: Report) -> None:
    report.error("4.2", await api.create("poor"), 402, "insufficient_credits")
    response = await api.create("short", {"model": KIKUYU, "max_audio_seconds": 300})
    report.equal("4.2", "reserves what is left when it is less", response.json()["credits"]["reserved"], 2)
    report.equal("2.3", "max_audio_seconds is the actual limit", response.json()["audio"]["max_audio_seconds"], 2)
    report.equal("2.3", "remaining is not negative", response.json()["credits"]["remaining"], 0)


async def idempotency(api: Api, report: Report) -> None:
    for key in ("k" * 129, "a b", "a/b"):
        response = await api.create("idempotent", idempotency_key=key)
        report.error(f"4.2 key of {len(key)} characters", response, 400, "invalid_request_error")
    key = "A.z_9:-" + "k" * 121
    first = await api.create("idempotent", idempotency_key=key)
    report.equal("8", "a key of 128 characters passes", first.status_code, 201)
    again = await api.create("idempotent", idempotency_key=key)
    report.equal("4.2", "a repeated key returns the same reservation", again.json() == first.json(), True)
    report.check("4.2", "X-Request-Id is new", again.headers["x-request-id"] != first.headers["x-request-id"])
    usage = (await api.usage("idempotent")).json()
    report.equal("4.2", "a repeated key reserves once", len(usage["recent_sessions"]), 1)
    other = await api.create("idempotent", {"model": DHOLUO}, idempotency_key=key)
    report.error("4.2", other, 409, "idempotency_conflict")


async def versions(api: Api, report: Report) -> None:
    document = (await api.http.get("/openapi.json")).json()
    report.equal("9", "the interface version", document["info"]["version"], "1.0.0")
    report.check("9", "every path begins with /v1", all(path.startswith("/v1/") for path in document["paths"]))
    error = await api.http.get("/v2/models")
    report.error("9 another version", error, 404, "invalid_request_error")
