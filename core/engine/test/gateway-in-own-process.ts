import { startRivaEngine } from '../src/index.ts';

/** A gateway to be killed by the test. Opens that many streams, which stay idle, reports it, then waits. */
const [addresses = '', streams = '0'] = process.argv.slice(2);
const gateway = await startRivaEngine({ addresses, tls: null });
for (let opened = 0; opened < Number(streams); opened += 1) {
  await gateway.open({ model: 'svc-asr-kikuyu-v1', signal: new AbortController().signal });
}
process.send?.('open');
setInterval(() => {}, 1e6);
