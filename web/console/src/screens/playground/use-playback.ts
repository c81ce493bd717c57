import { useEffect, useRef, useState } from 'react';
import { AUDIO } from '@svc-asr/protocol/constants.ts';

export interface Playback {
  readonly isPlaying: boolean;
  /** Null while nothing is played. */
  readonly atMs: number | null;
  readonly toggle: () => void;
  readonly stop: () => void;
}

/** Words are at least this long, so more updates would show nothing new. */
const UPDATE_MS = 40;

/** Plays PCM that is only in this page. The content security policy forbids blob: media, so Web Audio plays it. */
export function usePlayback(read: () => Int16Array): Playback {
  const [atMs, setAtMs] = useState<number | null>(null);
  const stop = useRef<(() => void) | null>(null);
  useEffect(() => () => stop.current?.(), []);
  function start(): void {
    const samples = read();
    if (samples.length === 0) return;
    const context = new AudioContext();
    const buffer = context.createBuffer(1, samples.length, AUDIO.sampleRateHz);
    buffer.copyToChannel(
      Float32Array.from(samples, (sample) => sample / 32_768),
      0,
    );
    const source = context.createBufferSource();
    source.buffer = buffer;
    source.connect(context.destination);
    const startedAt = context.currentTime;
    const timer = setInterval(() => setAtMs((context.currentTime - startedAt) * 1_000), UPDATE_MS);
    function end(): void {
      if (stop.current !== end) return;
      stop.current = null;
      clearInterval(timer);
      void context.close();
      setAtMs(null);
    }
    stop.current = end;
    source.addEventListener('ended', end);
    source.start();
    setAtMs(0);
  }
  return {
    isPlaying: atMs !== null,
    atMs,
    toggle: () => (stop.current === null ? start() : stop.current()),
    stop: () => stop.current?.(),
  };
}
