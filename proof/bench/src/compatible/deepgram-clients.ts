import type { ClientProgram } from './client-program.ts';

/** Clients of Deepgram's live socket. Versions are those in package.json and clients/integrations/requirements.txt. */
export const DEEPGRAM_NODE_CLIENTS: readonly ClientProgram[] = [
  { client: '@deepgram/sdk', version: '5.13.0', file: 'deepgram-5.ts' },
  { client: '@deepgram/sdk', version: '4.11.3', file: 'deepgram-4.ts' },
  { client: '@livekit/agents-plugin-deepgram', version: '1.9.0', file: 'livekit-deepgram.ts' },
];

export const DEEPGRAM_PYTHON_CLIENTS: readonly ClientProgram[] = [
  { client: 'deepgram-sdk (Python)', version: '7.16.0', file: 'deepgram_live.py' },
  { client: 'livekit-plugins-deepgram', version: '1.8.9', file: 'livekit_deepgram.py' },
  { client: 'pipecat-ai, DeepgramSTTService', version: '1.14.0', file: 'pipecat_deepgram.py' },
];
