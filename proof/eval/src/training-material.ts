import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { normalise } from './scoring.ts';
import { isFolder } from './sets.ts';

/** The sentences and speakers that a model was trained on, to compare with those of a test. */
export interface TrainingMaterial {
  readonly sentences: ReadonlySet<string>;
  readonly speakers: ReadonlySet<string>;
}

const TEXT_FIELDS = ['text', 'sentence'];
const SPEAKER_FIELDS = ['speaker', 'client_id', 'speaker_id'];

/**
 * Reads training material: folders of NAME.txt with an optional speakers.tsv, NeMo manifests (.json, .jsonl), tables with a
 * header (.tsv), and text files with a sentence per line.
 */
export async function readTrainingMaterial(paths: readonly string[]): Promise<TrainingMaterial> {
  const sentences = new Set<string>();
  const speakers = new Set<string>();
  for (const path of paths) {
    for (const { text, speaker } of await readRows(path)) {
      const sentence = normalise(text);
      if (sentence !== '') sentences.add(sentence);
      if (speaker !== '') speakers.add(speaker);
    }
  }
  return { sentences, speakers };
}

/** Reads `speakers.tsv` of a folder: NAME, a tab, SPEAKER. */
export async function readSpeakers(folder: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(join(folder, 'speakers.tsv'), 'utf8').catch(() => '');
  const rows = text.split('\n').map((line) => line.split('\t'));
  return new Map(
    rows.flatMap(([name, speaker]) =>
      name === undefined || speaker === undefined
        ? []
        : [[name.replace(/\.wav$/, ''), speaker.trim()] as const],
    ),
  );
}

interface Row {
  readonly text: string;
  readonly speaker: string;
}

async function readRows(path: string): Promise<Row[]> {
  if (await isFolder(path)) return readFolderRows(path);
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) throw new Error(`${path} cannot be read.`);
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (/\.jsonl?$/.test(path)) return lines.map((line, at) => jsonRow(line, `${path}:${at + 1}`));
  if (path.endsWith('.tsv')) return tableRows(lines, path);
  return lines.map((line) => ({ text: line, speaker: '' }));
}

async function readFolderRows(folder: string): Promise<Row[]> {
  const speakers = await readSpeakers(folder);
  const names = (await readdir(folder)).filter((name) => name.endsWith('.txt'));
  return Promise.all(
    names.map(async (name) => ({
      text: await readFile(join(folder, name), 'utf8'),
      speaker: speakers.get(basename(name, '.txt')) ?? '',
    })),
  );
}

function jsonRow(line: string, place: string): Row {
  try {
    const fields = new Map<string, unknown>(Object.entries(JSON.parse(line)));
    const text = fields.get('text');
    const speaker = fields.get('speaker');
    // Some corpora number their speakers.
    const isNamed = typeof speaker === 'string' || typeof speaker === 'number';
    if (typeof text === 'string') return { text, speaker: isNamed ? String(speaker) : '' };
  } catch {
    // The message below says which line it is, and not what is in it.
  }
  throw new Error(`${place} is not a line of a NeMo manifest: a JSON object with text.`);
}

function tableRows([header = '', ...lines]: readonly string[], path: string): Row[] {
  const columns = header.split('\t');
  const find = (names: readonly string[]): number =>
    columns.findIndex((column) => names.includes(column));
  const [text, speaker] = [find(TEXT_FIELDS), find(SPEAKER_FIELDS)];
  if (text < 0) throw new Error(`${path} has no column ${TEXT_FIELDS.join(' or ')}.`);
  return lines.map((line) => {
    const cells = line.split('\t');
    return { text: cells[text] ?? '', speaker: cells[speaker] ?? '' };
  });
}
