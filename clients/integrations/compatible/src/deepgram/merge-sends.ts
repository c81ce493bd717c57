import type { GateOutput } from '@svc-asr/sdk/audio';

/** Joins samples that follow each other: the gate works in windows of 20 ms, and a frame for each would cost more than its audio. */
export function mergeSends(outputs: readonly GateOutput[]): GateOutput[] {
  const merged: GateOutput[] = [];
  let run: Int16Array[] = [];
  const endRun = (): void => {
    if (run.length > 0) merged.push({ do: 'send', samples: joined(run) });
    run = [];
  };
  for (const output of outputs) {
    if (output.do === 'send') run.push(output.samples);
    else {
      endRun();
      merged.push(output);
    }
  }
  endRun();
  return merged;
}

function joined(pieces: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
