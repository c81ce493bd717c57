import { eventually } from '@svc-asr/testing/eventually.ts';
import { BareRecogniser } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { EngineNodeProcess } from '@svc-asr/local/engine-node-process.ts';
import { PrivateCa } from '@svc-asr/testing/engine/private-ca.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { afterAll } from 'vitest';
import { ROLE_NAME } from '../src/grpc/protocol.ts';
import { startRivaEngine, withReplay, type TlsFiles } from '../src/index.ts';
import { testEngine, type Subject } from './conformance.ts';

const { model, pcm } = speech('kikuyu-2');
const text = (await BareRecogniser.load()).recognise({ model, pcm });
const ca = await PrivateCa.create();
const started: EngineNodeProcess[] = [];
afterAll(async () => {
  await Promise.all(started.map((node) => node.stop()));
  await ca.remove();
});

/** Two nodes with three slots in total. */
async function start(tls: { node: TlsFiles; gateway: TlsFiles } | null): Promise<Subject> {
  const nodes = await Promise.all(
    [1, 2].map((slots) =>
      EngineNodeProcess.start({ slots, ...(tls === null ? {} : { tls: tls.node }) }),
    ),
  );
  started.push(...nodes);
  const addresses = nodes.map(({ address }) => address).join(',');
  const engine = await startRivaEngine({ addresses, tls: tls?.gateway ?? null });
  await eventually(() => engine.nodes().every(({ state }) => state === 'serving'));
  return {
    engine,
    model,
    speech: { pcm, text },
    crash: () => void serving().map((node) => node.replace()),
    hang: () => {
      const [node] = serving();
      node?.signal('SIGSTOP');
      // Restarts the node, as a supervisor would, after the engine has noticed.
      void eventually(() => engine.nodes().some(({ state }) => state === 'lost')).then(() =>
        node?.replace(),
      );
    },
  };

  /** Returns the nodes with an open call. */
  function serving(): EngineNodeProcess[] {
    const busy = engine.nodes().filter(({ calls }) => calls > 0);
    return nodes.filter((node) => busy.some(({ address }) => address === node.address));
  }
}

testEngine('two remote nodes', () => start(null));
testEngine(
  'two remote nodes with mutual TLS and replay',
  async () => {
    const tls = {
      node: await ca.issue(ROLE_NAME.engine),
      gateway: await ca.issue(ROLE_NAME.gateway),
    };
    const subject = await start(tls);
    return { ...subject, engine: withReplay(subject.engine) };
  },
  { onLoss: 'replay' },
);
