import { InferenceSession } from 'onnxruntime-node';

export function createSession(
  path: string,
  threads: number,
  executionProviders: string[] = ['cpu'],
): Promise<InferenceSession> {
  return InferenceSession.create(path, {
    executionProviders,
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
  });
}
