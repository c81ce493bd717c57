import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import type { TestBrowser } from './test-browser.ts';
import { startSoundCard } from './sound-card.ts';

/** Grants the microphone permission without a prompt. */
const PREFERENCES = { 'media.navigator.permission.disabled': true };

/** Debian's Firefox with a WAV file as its microphone, driven over WebDriver BiDi. */
export async function openFirefox(wav: string): Promise<TestBrowser> {
  const soundCard = await startSoundCard(wav);
  const profile = await mkdtemp(join(tmpdir(), 'svc-firefox-'));
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  await writeFile(join(profile, 'user.js'), lines.join('\n'));
  const firefox = spawn(
    process.env['FIREFOX'] ?? '/usr/bin/firefox-esr',
    ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...soundCard.env } },
  );
  const exited = once(firefox, 'exit');
  const driver = await Driver.connect(await addressOf(firefox));
  await driver.ask('session.new', { capabilities: {} });
  return {
    async visit(url) {
      const { context } = await driver.ask('browsingContext.create', { type: 'tab' });
      await driver.ask('browsingContext.navigate', { context, url, wait: 'complete' });
      return { evaluate: (expression) => driver.evaluate(context, expression) };
    },
    async close() {
      await driver.ask('browser.close', {});
      await exited;
      await soundCard.stop();
      await rm(profile, { recursive: true });
    },
  };
}

/** Firefox prints its WebDriver address on standard error. */
function addressOf(firefox: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    firefox.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const [, address] = /WebDriver BiDi listening on (ws:\S+)\n/.exec(said) ?? [];
      if (address !== undefined) resolve(address);
    });
    firefox.once('error', reject);
    firefox.once('exit', () => reject(new Error(`Firefox exited at once: ${said}`)));
  });
}

type Fields = Readonly<Record<string, unknown>>;

class Driver {
  readonly #socket: WebSocket;
  readonly #asked: PromiseWithResolvers<Fields>[] = [];

  static async connect(address: string): Promise<Driver> {
    const socket = new WebSocket(`${address}/session`);
    await once(socket, 'open');
    return new Driver(socket);
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => {
      const { id, type, result, message } = JSON.parse(data.toString('utf8'));
      if (type === 'success') this.#asked[id]?.resolve(result);
      if (type === 'error') this.#asked[id]?.reject(new Error(message));
    });
    socket.on('close', () => {
      for (const each of this.#asked) each.reject(new Error('Firefox exited.'));
    });
  }

  ask(method: string, params: Fields): Promise<Fields> {
    const answer = Promise.withResolvers<Fields>();
    const id = this.#asked.push(answer) - 1;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return answer.promise;
  }

  /** Transferred as JSON, whatever its type. */
  async evaluate<T>(context: unknown, expression: string): Promise<T> {
    const answer = await this.ask('script.evaluate', {
      expression: `(async () => JSON.stringify(await (${expression}) ?? null))()`,
      target: { context },
      awaitPromise: true,
      // As if triggered by a click.
      userActivation: true,
    });
    const { type, result, exceptionDetails } = answer;
    if (type !== 'success') throw new Error(`In the page: ${JSON.stringify(exceptionDetails)}`);
    return JSON.parse(String(Object(result).value));
  }
}
