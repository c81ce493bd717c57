import type { ClientProgram } from './client-program.ts';

/** Clients of OpenAI's APIs. Versions are those in package.json and clients/integrations/requirements.txt. */
export const OPENAI_NODE_CLIENTS: readonly ClientProgram[] = [
  { client: 'openai, files', version: '7.53.0', file: 'openai-files.ts' },
  { client: 'openai, files', version: '6.49.0', file: 'openai-files.ts', args: ['openai-6'] },
  { client: 'openai, Realtime', version: '7.53.0', file: 'openai-realtime.ts', needsTls: true },
  {
    client: 'openai, Realtime',
    version: '6.49.0',
    file: 'openai-realtime.ts',
    args: ['openai-6'],
    needsTls: true,
  },
  { client: '@livekit/agents-plugin-openai', version: '1.9.0', file: 'livekit-openai.ts' },
];

export const OPENAI_PYTHON_CLIENTS: readonly ClientProgram[] = [
  { client: 'openai (Python), files', version: '3.49.0', file: 'openai_files.py' },
  { client: 'openai (Python), Realtime', version: '3.49.0', file: 'openai_realtime.py' },
  { client: 'livekit-plugins-openai, Realtime', version: '1.8.9', file: 'livekit_openai.py' },
  {
    client: 'livekit-plugins-openai, files',
    version: '1.8.9',
    file: 'livekit_openai.py',
    args: ['files'],
    hasNoInterims: true,
  },
  {
    client: 'pipecat-ai, OpenAIRealtimeSTTService',
    version: '1.14.0',
    file: 'pipecat_openai.py',
  },
  {
    client: 'pipecat-ai, OpenAISTTService',
    version: '1.14.0',
    file: 'pipecat_openai.py',
    args: ['files'],
    hasNoInterims: true,
  },
];
