/** Complete programs for the first words. Tests read those for Node and Python from the screen and run them. */

interface ProgramInput {
  readonly baseUrl: string;
  /** Null while no key is on the screen. */
  readonly key: string | null;
}

export function environment({ baseUrl, key }: ProgramInput): string {
  return `export SVC_BASE_URL=${baseUrl}
export SVC_API_KEY=${key ?? 'svc_live_v1_...'}`;
}

export const NODE_PROGRAM = `const base = process.env.SVC_BASE_URL;
const recording = await fetch(\`\${base}/examples/kikuyu-1.wav\`);
// 16 kHz mono PCM after the header of the file.
const pcm = new Uint8Array(await recording.arrayBuffer()).subarray(44);

const response = await fetch(\`\${base}/v1/asr/sessions\`, {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${process.env.SVC_API_KEY}\`,
    'content-type': 'application/json',
  },
  body: JSON.stringify({ model: 'svc-asr-kikuyu-v1' }),
});
const session = await response.json();
if (!response.ok) throw new Error(session.error.message);

const socket = new WebSocket(session.websocket_url, session.websocket_protocols);
socket.onmessage = ({ data }) => {
  const event = JSON.parse(data);
  if (event.type === 'ready') {
    for (let at = 0; at < pcm.length; at += 6400) socket.send(pcm.subarray(at, at + 6400));
    socket.send(JSON.stringify({ type: 'flush' }));
  }
  if (event.type === 'delta') console.log('...', event.text);
  if (event.type === 'final') {
    console.log(event.text);
    socket.close(1000);
  }
  if (event.type === 'error') console.error(event.code, event.message);
};`;

export const PYTHON_PROGRAM = `import asyncio, json, os
from urllib.request import Request, urlopen
import websockets

base = os.environ["SVC_BASE_URL"]
# 16 kHz mono PCM after the header of the file.
pcm = urlopen(base + "/examples/kikuyu-1.wav").read()[44:]
request = Request(
    base + "/v1/asr/sessions",
    data=json.dumps({"model": "svc-asr-kikuyu-v1"}).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
        "Content-Type": "application/json",
    },
)
session = json.load(urlopen(request))

async def main():
    url, protocols = session["websocket_url"], session["websocket_protocols"]
    async with websockets.connect(url, subprotocols=protocols) as socket:
        async for message in socket:
            event = json.loads(message)
            if event["type"] == "ready":
                for at in range(0, len(pcm), 6400):
                    await socket.send(pcm[at : at + 6400])
                await socket.send(json.dumps({"type": "flush"}))
            elif event["type"] == "delta":
                print("...", event["text"])
            elif event["type"] == "final":
                print(event["text"])
                break
            elif event["type"] == "error":
                print(event["code"], event["message"])

asyncio.run(main())`;

export const TELEPHONE_PROGRAM = `export SVC_TELEPHONY_TOKEN=$(openssl rand -hex 16)
npx @svc-asr/telephony --language ki --host 0.0.0.0`;
