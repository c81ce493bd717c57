import { Silero } from './silero.ts';
import { SileroStream } from './silero-stream.ts';
import type { SileroAnswer, SileroQuestion } from './silero-messages.ts';

/** The child process that confirms speech for all streams of a node. It exits with its parent. */

// A terminal or service manager signals the whole group, but the parent decides when its children stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
process.on('disconnect', () => process.exit());
const silero = await Silero.load();
const streams = new Map<number, SileroStream>();

process.on('message', (question: SileroQuestion) => void answer(question));
send({ type: 'ready' });

/** The parent asks again only after the answer. */
async function answer({ parts, closed }: SileroQuestion): Promise<void> {
  for (const id of closed) streams.delete(id);
  const known = parts.map(({ stream: id, samples, isFresh }) => {
    const stream = streams.get(id) ?? new SileroStream();
    streams.set(id, stream);
    if (isFresh) stream.restart();
    return { stream, samples };
  });
  send({ type: 'answer', probabilities: await silero.probabilities(known) });
}

function send(message: SileroAnswer): void {
  process.send?.(message);
}
