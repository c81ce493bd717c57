import type { ClientProgram } from './client-program.ts';
import { DEEPGRAM_NODE_CLIENTS, DEEPGRAM_PYTHON_CLIENTS } from './deepgram-clients.ts';
import { OPENAI_NODE_CLIENTS, OPENAI_PYTHON_CLIENTS } from './openai-clients.ts';

export const CLIENTS: readonly ClientProgram[] = [
  ...DEEPGRAM_NODE_CLIENTS,
  ...DEEPGRAM_PYTHON_CLIENTS,
  ...OPENAI_NODE_CLIENTS,
  ...OPENAI_PYTHON_CLIENTS,
];

/** One client per API, in its newest version. They start quickly. */
export const SHORT_CLIENTS: readonly ClientProgram[] = [
  'deepgram-5.ts',
  'openai-files.ts',
  'openai-realtime.ts',
].flatMap((name) => CLIENTS.filter(({ file }) => file === name).slice(0, 1));
