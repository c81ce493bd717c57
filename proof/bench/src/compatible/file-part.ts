import type { CampaignResult } from '../campaign.ts';
import type { CheckContext } from './client-checks.ts';
import { checkFiles } from './file-checks.ts';
import { checkHostileUploads } from './hostile-uploads.ts';
import { checkLongFile } from './long-file.ts';

const LONG_S = { short: 60, full: 3_600 } as const;
/** The memory that a file may need on top, however long it is. */
const LONG_FILE_MIB_MAX = 200;

/** Two frames of the recogniser. */
const WORD_DRIFT_MS_MAX = 160;

/** Files over HTTP: formats, an hour of speech, and hostile uploads. */
export async function checkFilePart(
  context: CheckContext,
  input: { readonly short: boolean; readonly log: (line: string) => void },
): Promise<CampaignResult> {
  const files = await checkFiles(context, input);
  const seconds = input.short ? LONG_S.short : LONG_S.full;
  const long = await checkLongFile(context, { seconds, log: input.log });
  // The program's own tests decode the same hostile files in every run.
  const hostile = input.short
    ? { hostile_files: 0, hostile_failed: 0 }
    : await checkHostileUploads(context, input);
  const isRight =
    files.files_different === 0 &&
    files.receipts_different === 0 &&
    long.long_file_receipt_different === 0 &&
    // Where a sentence begins in the recogniser's chunks can change a letter, so the two texts needn't be equal.
    long.letters_wrong <= long.sdk_letters_wrong &&
    long.word_drift_ms <= WORD_DRIFT_MS_MAX &&
    hostile.hostile_failed === 0;
  return {
    passed: isRight && long.long_file_mib <= LONG_FILE_MIB_MAX,
    figures: { ...files, ...long, ...hostile },
  };
}
