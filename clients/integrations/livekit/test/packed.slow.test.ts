import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEmulator } from '@svc-asr/emulator';
import { expect, test } from 'vitest';
import { projectWith } from '../../../../proof/testing/src/packed-project.ts';

const TEXT = 'nĩ wega mũno';

/** Runs the README's example in an agent that prints one turn. */
const AGENT = (example: string): string => `
import { AudioFrame } from '@livekit/rtc-node';
import { initializeLogger } from '@livekit/agents';
initializeLogger({ pretty: false, level: 'silent' });
const llm = new (await import('@livekit/agents')).voice.testing.FakeLLM([]);
const tts = undefined;
${example}
const stream = session.stt.stream();
for (let at = 0; at < 100; at += 1) {
  const data = Int16Array.from({ length: 320 }, (_, i) => (at < 60 ? 8000 * Math.sin(i / 6) : 0));
  stream.pushFrame(new AudioFrame(data, 16000, 1, 320));
}
for await (const event of stream) {
  if (event.type === 2) console.log(event.alternatives[0].text);
  if (event.type === 3) process.exit(0);
}
`;

test('the packed package runs the example of its README', async () => {
  const emulator = await startEmulator({ texts: [TEXT] });
  const project = await projectWith('livekit', ['@livekit/agents', '@livekit/rtc-node']);
  try {
    const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8');
    const [, example = ''] = /```ts\n([^]*?)```/.exec(readme) ?? [];
    await writeFile(join(project.folder, 'agent.mjs'), AGENT(example));
    const env = { ...process.env, SVC_BASE_URL: emulator.url, SVC_API_KEY: emulator.apiKey };
    const agent = promisify(execFile)(process.execPath, ['agent.mjs'], {
      cwd: project.folder,
      env,
      timeout: 40_000,
    });
    expect((await agent).stdout.trim()).toBe(TEXT);
  } finally {
    await project.remove();
    await emulator.stop();
  }
});
