import { openMicrophone } from '@svc-asr/sdk/microphone';
import { fetchSession, openStream } from '@svc-asr/sdk/stream';
import { useCallback, useEffect, useRef, useState } from 'react';

export interface Transcript {
  readonly state: 'idle' | 'listening' | 'finishing';
  /** The final lines. */
  readonly lines: readonly string[];
  /** The interim text of the current line. Each update replaces it. */
  readonly now: string;
  readonly problem: string | null;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Transcribes the microphone. `sessionUrl` is an endpoint of your own backend, which holds the API key. */
export function useTranscript(sessionUrl: string): Transcript {
  const [state, setState] = useState<Transcript['state']>('idle');
  const [lines, setLines] = useState<readonly string[]>([]);
  const [now, setNow] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const stopRef = useRef<(() => Promise<void>) | null>(null);

  const start = useCallback(async () => {
    setProblem(null);
    const stream = openStream({
      getSession: fetchSession(sessionUrl),
      // A pause ends a line.
      endpointing: { silenceMs: 600 },
    });
    stream.on('delta', ({ text }) => setNow(text));
    stream.on('final', ({ text }) => {
      setNow('');
      if (text !== '') setLines((before) => [...before, text]);
    });
    stream.on('error', ({ message }) => setProblem(message));
    stream.on('close', () => setState('idle'));
    try {
      const microphone = await openMicrophone({ sink: stream, gate: true });
      setState('listening');
      stopRef.current = async () => {
        stopRef.current = null;
        setState('finishing');
        await microphone.stop();
        await stream.finish().catch(() => {});
      };
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      // Releases the session, even one that is still being created.
      await stream.finish().catch(() => {});
    }
  }, [sessionUrl]);

  const stop = useCallback(async () => stopRef.current?.(), []);
  // Releases the microphone when the component unmounts.
  useEffect(() => () => void stopRef.current?.(), []);
  return { state, lines, now, problem, start, stop };
}
