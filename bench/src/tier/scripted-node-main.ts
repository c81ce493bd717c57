import { createScriptedEngine, startEngineNode, type TlsFiles } from '@svc-asr/engine';

/** An engine node without a recogniser, to measure the cost of the tier itself. */
const WORDS = Array.from({ length: 40 }, () => 'mũndũ').join(' ');
const tls: TlsFiles = JSON.parse(process.argv[2] ?? '');
const engine = createScriptedEngine({ script: { texts: [WORDS] }, capacity: 10_000 });
const node = await startEngineNode({ engine, address: '127.0.0.1:0', tls });
process.on('disconnect', () => process.exit(0));
process.send?.(node.port);
