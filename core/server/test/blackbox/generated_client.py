"""Uses the client that openapi-python-client generated. The client's folder is the first argument.

Prints what it received as JSON, without the credential.
"""

import json
import os
import sys

sys.path.insert(0, sys.argv[1])

from svc_asr_client import AuthenticatedClient, Client
from svc_asr_client.api.models import list_models
from svc_asr_client.api.sessions import create_session
from svc_asr_client.api.usage import get_usage
from svc_asr_client.models import AsrSession, CreateSessionRequest, ErrorBody

BASE_URL = os.environ["SVC_BASE_URL"]


def main() -> None:
    client = AuthenticatedClient(base_url=BASE_URL, token=os.environ["SVC_API_KEY"])
    models = list_models.sync(client=Client(base_url=BASE_URL))
    body = CreateSessionRequest(model="svc-asr-kikuyu-v1", max_audio_seconds=5)
    session = create_session.sync(client=client, body=body)
    assert isinstance(session, AsrSession), type(session)
    refusal = create_session.sync(client=client, body=body)
    assert isinstance(refusal, ErrorBody), type(refusal)
    usage = get_usage.sync(client=client)
    print(
        json.dumps(
            {
                "models": [model.id for model in models.data],
                "status": session.status,
                "protocols": [session.websocket_protocols[0], session.websocket_protocols[1][:9]],
                "context_size": session.audio.context_size,
                "reserved": session.credits_.reserved,
                "refusal": refusal.error.code,
                "reserved_ms": usage.reserved_ms,
                "completed_at": [record.completed_at for record in usage.recent_sessions],
                "leaks": leaks(session),
            }
        )
    )


def leaks(session: AsrSession) -> list[str]:
    """Breaks every field in turn. No error of the generated parser may print the credential."""
    whole = session.to_dict()
    found = []
    for field in whole:
        for wrong in (None, 7, "wrong", {}):
            try:
                AsrSession.from_dict({**whole, field: wrong})
            except Exception as error:  # noqa: BLE001
                if "svc.auth." in f"{error!r} {error}":
                    found.append(field)
    return found


main()
