import { startEngineNode, type TlsFiles } from '@svc-asr/engine';
import { scriptedRecogniser } from './scripted-recogniser.ts';

/** An engine node without a recogniser, to measure the cost of the tier itself. */
const tls: TlsFiles = JSON.parse(process.argv[2] ?? '');
const engine = scriptedRecogniser();
const node = await startEngineNode({ engine, address: '127.0.0.1:0', tls });
process.on('disconnect', () => process.exit(0));
process.send?.(node.port);
