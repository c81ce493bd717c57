import { DHOLUO } from './dholuo.ts';
import { ENGLISH } from './english.ts';
import { KIKUYU } from './kikuyu.ts';
import { NUMBER_LANGUAGES, type NumberLanguage } from '../languages.ts';
import { SWAHILI } from './swahili.ts';

const PARTS = ['unit', 'ten', 'tens', 'hundred', 'scale', 'zero', 'repeat', 'point'] as const;
const JOINTS = ['half', 'and', 'of'] as const;
const AROUND = ['or', 'ordinal', 'never', 'currency', 'percent', 'hour', 'language'] as const;
const AFFIXES = ['elided', 'particle'] as const;

/** What the words of a line do in a number, or beside one. */
const KINDS = [...PARTS, ...JOINTS, ...AROUND, ...AFFIXES];
export type Kind = (typeof KINDS)[number];

/** Whether a word of this kind can be in a number. */
export const IN_NUMBERS: ReadonlySet<Kind> = new Set([...PARTS, ...JOINTS]);

/** One line of a table. */
export interface Line {
  readonly kind: Kind;
  /** What a unit, ten or scale stands for. 0 for all others. */
  readonly value: number;
  /** Noun classes, and words such as `one`, `joinless` or the currency. */
  readonly tags: readonly string[];
  /** The first form is the one that `sayNumber` says. */
  readonly forms: readonly Form[];
}

interface Form {
  readonly text: string;
  /** `!`: a speaker confirmed it. `?`: no text has it. Otherwise texts have it. */
  readonly sure: 'speaker' | 'text' | 'guess';
  /** `*`: outside numbers it mostly is another word. */
  readonly isWeak: boolean;
}

export interface Table {
  readonly language: NumberLanguage;
  /** "ngiri igĩrĩ" rather than "two thousand". */
  readonly isHeadFirst: boolean;
  readonly lines: readonly Line[];
}

/** Reads a table. Names the line that it can't read. */
export function readTable(text: string): Table {
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(readLine);
  const first = lines.find(({ kind }) => kind === 'language');
  const language = NUMBER_LANGUAGES.find((name) => first?.tags.includes(name));
  if (first === undefined || language === undefined) throw new Error('The table has no language.');
  return { language, isHeadFirst: first.forms[0]?.text === 'head first', lines };
}

function readLine(line: string): Line {
  const [, head = '', tail = ''] = /^([^:]+):\s+(\S.*)$/u.exec(line) ?? [];
  const [name, ...rest] = head.split(' ');
  const kind = KINDS.find((known) => known === name);
  if (kind === undefined) throw new Error(`Not a line of a number table: ${line}`);
  const value = Number(rest[0] ?? 0);
  const hasValue = Number.isInteger(value) && rest.length > 0;
  return {
    kind,
    value: hasValue ? value : 0,
    tags: hasValue ? rest.slice(1) : rest,
    forms: tail.trim().split(/\s+/u).map(readForm),
  };
}

function readForm(written: string): Form {
  const [, text = '', marks = ''] = /^([^!?*]*)([!?*]*)$/u.exec(written) ?? [];
  const sure = marks.includes('!') ? 'speaker' : marks.includes('?') ? 'guess' : 'text';
  return { text: text.normalize('NFC').replaceAll('_', ' '), sure, isWeak: marks.includes('*') };
}

const found = new WeakMap<Table, Map<string, readonly string[]>>();

/** The forms of all lines of a kind, those with `tag` only if it is given. */
export function formsOf(table: Table, kind: Kind, tag = ''): readonly string[] {
  const known = found.get(table) ?? new Map<string, readonly string[]>();
  found.set(table, known);
  const key = `${kind} ${tag}`;
  const forms =
    known.get(key) ??
    table.lines
      .filter((line) => line.kind === kind && (tag === '' || line.tags.includes(tag)))
      .flatMap((line) => line.forms.map(({ text }) => text));
  known.set(key, forms);
  return forms;
}

export const TABLES: Readonly<Record<NumberLanguage, Table>> = {
  ki: readTable(KIKUYU),
  luo: readTable(DHOLUO),
  sw: readTable(SWAHILI),
  en: readTable(ENGLISH),
};
