import { openMicrophone } from '@svc-asr/sdk/microphone';
import { fetchSession, openStream, SvcError, type SvcStream } from '@svc-asr/sdk/stream';
import { useCallback, useEffect, useRef, useState } from 'react';

export interface Transcript {
  readonly state: 'idle' | 'opening' | 'listening' | 'finishing';
  /** The final lines. */
  readonly lines: readonly string[];
  /** The interim text of the current line. Each update replaces it. */
  readonly now: string;
  /** Why there is no transcript at the moment, while the stream retries by itself. */
  readonly notice: string | null;
  /** Why the transcription ended, or could not start. */
  readonly problem: string | null;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Transcribes the microphone. `sessionUrl` is an endpoint of your own backend, which holds the API key. */
export function useTranscript(sessionUrl: string): Transcript {
  const [state, setState] = useState<Transcript['state']>('idle');
  const [lines, setLines] = useState<readonly string[]>([]);
  const [now, setNow] = useState('');
  const [notice, setNotice] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  /** The stream that is open. Null while idle. */
  const openRef = useRef<SvcStream | null>(null);

  const start = useCallback(async () => {
    if (openRef.current !== null) return;
    const stream = openStream({
      getSession: fetchSession(sessionUrl),
      // A pause ends a line.
      endpointing: { silenceMs: 600 },
    });
    openRef.current = stream;
    setState('opening');
    setProblem(null);
    stream.on('ready', () => setNotice(null));
    stream.on('waiting', ({ error }) => setNotice(error.userMessage));
    stream.on('reconnecting', ({ close }) => setNotice(close.userMessage));
    stream.on('delta', ({ text }) => setNow(text));
    stream.on('final', ({ text }) => {
      setNow('');
      if (text !== '') setLines((before) => [...before, text]);
    });
    stream.on('error', (error) => {
      console.error(error.message);
      setProblem(error.userMessage);
    });
    stream.on('close', () => {
      openRef.current = null;
      setState('idle');
      setNow('');
      setNotice(null);
    });
    try {
      await openMicrophone({ sink: stream, gate: true });
      if (openRef.current === stream) setState('listening');
    } catch (error) {
      // A stream that ended first has said why.
      if (error instanceof SvcError && error.code === 'stream_closed') return;
      setProblem(error instanceof SvcError ? error.userMessage : String(error));
      await finish(stream);
    }
  }, [sessionUrl]);

  const stop = useCallback(async () => {
    if (openRef.current === null) return;
    setState('finishing');
    await finish(openRef.current);
  }, []);

  useEffect(
    () => () => {
      if (openRef.current !== null) void finish(openRef.current);
    },
    [],
  );
  return { state, lines, now, notice, problem, start, stop };
}

/** Ends the stream, which stops the microphone at once, and releases the session, even one still being created. */
async function finish(stream: SvcStream): Promise<void> {
  // The error event has shown the reason.
  await stream.finish().catch(() => {});
}
