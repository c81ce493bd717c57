import type { Readable } from 'node:stream';

const REPORT_LENGTH_MAX = 64 * 1024;
const REPORT_END = '\nOutput #0';

/**
 * Resolves with the lowest sample rate that ffmpeg reports for its input, or 0. A file with a rate of 1 Hz has hours of
 * audio in a few kilobytes. Names and titles inside the file are in the same text, so a file can only lower the rate.
 */
export function readInputRate(stderr: Readable): Promise<number> {
  return new Promise((resolve) => {
    let report = '';
    let isComplete = false;
    const complete = (): void => {
      isComplete = true;
      resolve(lowestRate(report));
    };
    stderr.setEncoding('latin1').on('data', (text: string) => {
      // ffmpeg continues with errors of a broken file, which are not needed.
      if (isComplete) return;
      const from = Math.max(0, report.length - REPORT_END.length);
      report += text;
      // The output is described after the whole input. A file with endless titles is refused.
      if (report.includes(REPORT_END, from) || report.length >= REPORT_LENGTH_MAX) complete();
    });
    stderr.on('close', complete);
  });
}

function lowestRate(report: string): number {
  let lowest = Number.POSITIVE_INFINITY;
  for (const line of report.split('\n')) {
    const at = line.indexOf(': Audio: ');
    if (at === -1) continue;
    const rates = line.slice(at).matchAll(/, (\d{1,9}) Hz/g);
    for (const [, hz] of rates) lowest = Math.min(lowest, Number(hz));
  }
  return lowest === Number.POSITIVE_INFINITY ? 0 : lowest;
}
