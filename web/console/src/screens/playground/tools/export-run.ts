import { cues, toSrt, toVtt } from '@svc-asr/protocol/captions.ts';
import type { Run, Turn } from '../run.ts';

export const EXPORTS = ['txt', 'srt', 'vtt', 'json'] as const;
export type ExportFormat = (typeof EXPORTS)[number];

export type Exported = Pick<Run, 'turns' | 'model'> & {
  readonly audioMs: number;
  readonly chargedMs: number | null;
};

export function textOf(turns: readonly Turn[]): string {
  return turns.map((turn) => turn.map(({ text }) => text).join(' ')).join('\n');
}

/** What was said, without digits. */
export function spokenText(turns: readonly Turn[]): string {
  return textOf(
    turns.map((turn) => turn.map((word) => ({ ...word, text: word.said ?? word.text }))),
  );
}

export function render(format: ExportFormat, run: Exported): string {
  const finals = run.turns.map((words) => ({ words }));
  switch (format) {
    case 'txt':
      return `${textOf(run.turns)}\n`;
    case 'srt':
      return toSrt(cues(finals));
    case 'vtt':
      return toVtt(cues(finals));
    case 'json':
      return `${JSON.stringify(
        {
          model: run.model,
          text: textOf(run.turns),
          audio_ms: run.audioMs,
          charged_ms: run.chargedMs,
          turns: finals,
        },
        null,
        2,
      )}\n`;
  }
}

/** Saves a file that never leaves this browser. */
export function download(format: ExportFormat, run: Exported): void {
  const url = URL.createObjectURL(new Blob([render(format, run)], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `transcript.${format}`;
  link.click();
  // After the click the browser still reads the file.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
