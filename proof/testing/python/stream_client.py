"""Opens one stream with the `websockets` package. Commands come in as JSON lines, events go out as JSON lines."""

import asyncio
import json
import sys
import time

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError, InvalidStatus


def report(**fields: object) -> None:
    print(json.dumps(fields), flush=True)


async def run_commands(websocket, commands: asyncio.StreamReader) -> None:
    while line := await commands.readline():
        command = json.loads(line)
        if "zeros" in command:
            await websocket.send(bytes(command["zeros"]))
        elif "text" in command:
            await websocket.send(command["text"])
        elif "invalid_utf8" in command:
            await websocket.send(b"\xc3\x28", text=True)


async def main(url: str, protocols: list[str]) -> None:
    loop = asyncio.get_running_loop()
    commands = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    try:
        websocket = await connect(url, subprotocols=protocols, compression=None)
    except InvalidStatus as refusal:
        report(refused=refusal.response.status_code)
        return
    running = asyncio.create_task(run_commands(websocket, commands))
    last_event = time.monotonic()
    try:
        async for message in websocket:
            last_event = time.monotonic()
            report(event=json.loads(message))
    except ConnectionClosedError:
        pass  # A close code other than 1000. It is reported below.
    await websocket.wait_closed()
    waited_ms = (time.monotonic() - last_event) * 1000
    running.cancel()
    report(closed={"code": websocket.close_code, "reason": websocket.close_reason, "waitedMs": waited_ms})


asyncio.run(main(sys.argv[1], sys.argv[2:]))
