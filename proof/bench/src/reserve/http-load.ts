import { Agent, request } from 'node:http';

/** Makes reservations over HTTP from concurrent clients. Returns the latency of each in milliseconds. */
export async function reserveByHttp(input: {
  url: string;
  apiKeys: readonly string[];
  clients: number;
  reservations: number;
}): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: input.clients });
  const latencies: number[] = [];
  let begun = 0;
  async function client(): Promise<void> {
    while (begun < input.reservations) {
      begun += 1;
      const apiKey = input.apiKeys[Math.floor(Math.random() * input.apiKeys.length)] ?? '';
      const began = performance.now();
      await reserveOnce(`${input.url}/v1/asr/sessions`, agent, apiKey);
      latencies.push(performance.now() - began);
    }
  }
  try {
    await Promise.all(Array.from({ length: input.clients }, client));
  } finally {
    agent.destroy();
  }
  return latencies;
}

const BODY = JSON.stringify({ model: 'svc-asr-kikuyu-v1' });

function reserveOnce(url: string, agent: Agent, apiKey: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'content-length': BODY.length,
      },
    });
    sent.on('error', reject);
    sent.on('response', (answer) => {
      answer.resume().on('end', () => {
        if (answer.statusCode === 201) resolve();
        else reject(new Error(`A reservation was answered ${answer.statusCode}.`));
      });
    });
    sent.end(BODY);
  });
}
