import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';

/**
 * Recorded human voices, from Debian packages that `.ci/bootstrap` installs. Detectors are designed on one half of them and
 * judged on the other. Recordings of one language by volunteers are in one half, because one person may have made both.
 */

export type Half = 'design' | 'held-out';

export interface Voice {
  readonly name: string;
  readonly half: Half;
  /** Single letters and syllables. */
  readonly letters: boolean;
  readonly folders: readonly string[];
}

const SHARE = '/usr/share';
const FILES_MAX = 60;
const AUDIO_FILE = /\.(g722|wav|ogg|oga|flac|opus|mp3|m4a)$/i;
/** Recordings among the prompts that are no speech. */
const NOT_SPEECH =
  /tone|beep|ring|silence|monkeys|weasels|tux-angry|confbridge-(join|leave)\.|audio-test-signal/;

const VOICES: readonly Voice[] = [
  prompts('en_US_f_Allison', 'design'),
  prompts('it_IT_m_Carlo', 'design'),
  {
    name: 'librivox',
    half: 'design',
    letters: false,
    folders: ['librivox', 'cards'].map((name) => join(SHARE, 'pocketsphinx/test/data', name)),
  },
  ...['ca', 'de', 'nn'].map((language) => words(language, 'design')),
  ...['es', 'hu', 'tn', 'pt_BR'].map((language) => letters(language, 'design')),
  prompts('fr_CA_f_June', 'held-out'),
  prompts('ru_RU_f_IvrvoiceRU', 'held-out'),
  prompts('it_IT_f_Menardi', 'held-out'),
  ...['da', 'fr', 'uk'].map((language) => words(language, 'held-out')),
  ...['he', 'lt', 'ml', 'it'].map((language) => letters(language, 'held-out')),
];

function prompts(name: string, half: Half): Voice {
  const folder = join(SHARE, 'asterisk/sounds', name);
  const folders = ['', 'digits', 'letters', 'phonetic'].map((part) => join(folder, part));
  return { name, half, letters: false, folders };
}

function words(language: string, half: Half): Voice {
  const folders = [join(SHARE, 'ktuberling/sounds', language)];
  return { name: `words-${language}`, half, letters: false, folders };
}

function letters(language: string, half: Half): Voice {
  const folders = ['alpha', 'syllab'].map((part) => join(SHARE, 'klettres', language, part));
  return { name: `letters-${language}`, half, letters: true, folders };
}

export function voicesOf(half: Half): Voice[] {
  return VOICES.filter((voice) => voice.half === half);
}

/** Voices of your own: a folder with a folder of recordings per voice. */
export async function voicesIn(folder: string): Promise<Voice[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  if (names.length === 0) throw new Error(`${folder} needs a folder of recordings per voice.`);
  return names
    .toSorted()
    .map((name) => ({ name, half: 'held-out', letters: false, folders: [join(folder, name)] }));
}

/** The recordings of a voice, the same number from each of its folders. */
export async function recordingsOf({ folders, name }: Voice): Promise<string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    const files = await soundFiles(folder);
    const step = Math.max(1, (files.length * folders.length) / FILES_MAX);
    for (let at = 0; at < files.length; at += step) found.push(files[Math.floor(at)] ?? '');
  }
  if (found.length > 0) return found;
  throw new Error(`There are no recordings of the voice ${name}. Run .ci/bootstrap, then retry.`);
}

/** Music on hold and the desktop's alerts. Each half has its own. */
export async function soundsOf(half: Half): Promise<{ music: string[]; alerts: string[] }> {
  const parity = half === 'design' ? 0 : 1;
  const every = (files: string[]): string[] => files.filter((_, at) => at % 2 === parity);
  const music = every(await soundFiles(join(SHARE, 'asterisk/moh')));
  const alerts = every(
    (await soundFiles(join(SHARE, 'sounds/freedesktop/stereo'))).filter(
      (file) => !basename(file).startsWith('audio-'),
    ),
  );
  if (music.length > 0 && alerts.length > 0) return { music, alerts };
  throw new Error('There is no music on hold. Run .ci/bootstrap, then retry.');
}

async function soundFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => AUDIO_FILE.test(name) && !NOT_SPEECH.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}
