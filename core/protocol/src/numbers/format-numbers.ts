import type { NumberEntity, Word } from '../events.ts';
import { foldKeyterm } from '../keyterms.ts';
import type { NumberLanguage } from '../languages.ts';
import { Lexicon, type Parts } from './lexicon.ts';
import { NUMBER_WORDS_MAX, readNumbers, type Reading } from './read-number.ts';
import { formsOf, type Kind, type Table } from './table.ts';

/** Words and numbers in their order. */
type Item = Word | NumberEntity;

/** Fewer digits than this are not taken for a telephone or account number. */
const DIGITS_MIN = 4;
/** The words after a number that can change what it is. */
const LOOK_AHEAD = 2;
const COUNTING: ReadonlySet<Kind> = new Set(['unit', 'ten', 'tens', 'hundred', 'scale']);

interface Options {
  /** Numbers with a word below this confidence stay in words. */
  readonly leastConfidence?: number;
  /** False: more words follow. The result then ends before a number that they could change. */
  readonly isEnded?: boolean;
}

/** Writes the numbers of an utterance in digits. Doubt leaves a number in words, because half a number is worse than none. */
export function formatNumbers(
  words: readonly Word[],
  language: NumberLanguage,
  options: Options = {},
): { text: string; entities: NumberEntity[] } {
  const items = [...new Utterance(words, lexiconOf(language)).items(options)];
  return {
    text: items.map(({ text }) => text).join(' '),
    entities: items.filter((item) => 'kind' in item),
  };
}

const lexicons = new Map<NumberLanguage, Lexicon>();

function lexiconOf(language: NumberLanguage): Lexicon {
  const lexicon = lexicons.get(language) ?? new Lexicon(language);
  lexicons.set(language, lexicon);
  return lexicon;
}

class Utterance {
  readonly #words: readonly Word[];
  readonly #texts: readonly string[];
  readonly #lexicon: Lexicon;
  /** Where the last number ended. */
  #numberEnd = -1;

  constructor(words: readonly Word[], lexicon: Lexicon) {
    this.#words = words;
    this.#texts = words.map(({ text }) => foldKeyterm(text));
    this.#lexicon = lexicon;
  }

  *items({ leastConfidence = 0, isEnded = true }: Options): Generator<Item> {
    for (let at = 0; at < this.#words.length;) {
      if (!isEnded && this.#mayGrow(at)) return;
      const entity = this.#look(at).isInNumbers ? this.#entity(at) : null;
      const end = entity?.end_word ?? at + 1;
      if (entity !== null && (entity.confidence ?? 1) >= leastConfidence) yield entity;
      else yield* this.#words.slice(at, end);
      if (entity !== null) this.#numberEnd = end;
      at = end;
    }
  }

  #text(at: number): string {
    return this.#texts[at] ?? '';
  }

  #look(at: number): Parts {
    return this.#lexicon.lookUp(this.#text(at));
  }

  #is(at: number, ...kinds: readonly Kind[]): boolean {
    return this.#lexicon.is(this.#text(at), ...kinds);
  }

  #says(phrase: readonly string[], at: number): boolean {
    return phrase.every((word, i) => this.#text(at + i) === word);
  }

  /** Whether a word still to come could change what is made of the word at `at`. */
  #mayGrow(at: number): boolean {
    let end = at;
    while (this.#look(end).isInNumbers || this.#is(end, 'percent')) end += 1;
    return end > at && end + LOOK_AHEAD > this.#texts.length;
  }

  #entity(at: number): NumberEntity | null {
    const digits = this.#lexicon.tables.map((table) => this.#digits(at, table));
    return digits.find((found) => found !== null) ?? this.#number(at);
  }

  #number(at: number): NumberEntity | null {
    // An hour, or the middle of a number whose start made no sense.
    if (this.#is(at - 1, 'hour', 'hundred', 'scale', 'tens')) return null;
    if (this.#numberEnd < at && this.#isBrokenBefore(at)) return null;
    const readings = readNumbers(this.#lexicon, this.#texts, at).filter(
      ({ end }) => !this.#isNever(at, end),
    );
    const [reading] = readings;
    if (reading === undefined || this.#isDoubtful(at, reading)) return null;
    const table = this.#lexicon.tables.find(({ language }) => language === reading.language);
    if (table === undefined) return null;
    const whole = this.#withFraction(reading);
    const percentWords = this.#percentWords(whole.end, table);
    const isPercent =
      percentWords > 0 || formsOf(table, 'percent', 'before').includes(this.#text(at - 1));
    const currency =
      currencyOf(table, this.#text(at - 1)) ??
      (table.isHeadFirst ? undefined : currencyOf(table, this.#text(whole.end)));
    const isPlain = !isPercent && currency === undefined;
    if (whole.end - at < 2 && (isPlain || this.#is(at, 'hundred', 'scale'))) return null;
    const { particle } = this.#look(whole.end - 1);
    const others = readings.filter(
      ({ end, value }) => end === reading.end && end === whole.end && value !== reading.value,
    );
    return this.#make(at, whole.end + percentWords, {
      kind: isPercent ? 'percent' : currency === undefined ? 'number' : 'amount',
      text: write(whole.value) + (percentWords > 0 ? '%' : '') + (particle && `-${particle}`),
      value: whole.value,
      language: reading.language,
      ...(currency === undefined ? {} : { currency }),
      ...(others.length === 0 ? {} : { alternatives: others.map(({ value }) => value) }),
    });
  }

  /** Whether a word is a number word and hardly anything else. */
  #counts(at: number): boolean {
    return this.#look(at).roles.some(({ kind, isWeak }) => COUNTING.has(kind) && !isWeak);
  }

  /** Whether a phrase that is never a number overlaps the words, as in "mĩrongo ĩtano na ĩrĩ na …": fifty, and it has … */
  #isNever(at: number, end: number): boolean {
    return this.#lexicon.never.some((phrase) => {
      for (let from = at; from < end; from += 1) if (this.#says(phrase, from)) return true;
      return false;
    });
  }

  /** A number word that stayed in words is just before, or before a conjunction. */
  #isBrokenBefore(at: number): boolean {
    if (this.#counts(at - 1)) return true;
    return this.#is(at - 1, 'and', 'of') && this.#numberEnd < at - 1 && this.#counts(at - 2);
  }

  /** Whether a word beside a number, or beyond a conjunction, sounds like a number word that was misheard. */
  #isCutOff(at: number, end: number): boolean {
    const before = this.#is(at - 1, 'and', 'of') ? at - 2 : at - 1;
    const after = this.#is(end, 'and', 'of') ? end + 1 : end;
    return [before, after].some((beside) => this.#lexicon.isNearly(this.#text(beside)));
  }

  /** Whether the words around a number cast doubt on it. */
  #isDoubtful(at: number, { end, language }: Reading): boolean {
    const next = this.#text(end);
    const isOr = this.#look(end).roles.some(
      (role) => role.kind === 'or' && role.language === language,
    );
    return (
      this.#isCutOff(at, end) ||
      // Distributive: "mia mia", "piero abich abich".
      next === this.#text(end - 1) ||
      this.#text(at - 1) === this.#text(at) ||
      // A word between was left out or misheard.
      this.#counts(end) ||
      // An ordinal, or a number word that doesn't fit.
      (this.#is(end, 'and', 'of') && (this.#counts(end + 1) || this.#is(end + 1, 'ordinal'))) ||
      // A shared head: "alufu ariyo kata adek", two or three thousand.
      (isOr && this.#is(end + 1, 'unit')) ||
      // A bare head before "na" and a unit: "hedges and one …", "thousands and …".
      (end - at === 3 && this.#is(at, 'scale', 'hundred') && this.#is(at + 1, 'and'))
    );
  }

  /** Adds "gaturumo igĩrĩ" (point two) or "na nuthu" (and a half). */
  #withFraction(reading: Reading): Reading {
    const { end, value, scale = 1 } = reading;
    if (this.#is(end, 'point')) {
      let digits = '';
      for (let next = end + 1; ; next += 1) {
        const digit = this.#digit(next, reading.language);
        if (digit === null) break;
        digits += digit;
      }
      const places = digits.length;
      const sum = Number((value + Number(`0.${digits || '0'}`) * scale).toFixed(places));
      return places === 0 ? reading : { ...reading, end: end + 1 + places, value: sum };
    }
    const hasHalf = this.#is(end, 'and') && this.#is(end + 1, 'half');
    if (!hasHalf || (value >= 100 && scale === 1)) return reading;
    return { ...reading, end: end + 2, value: value + scale / 2 };
  }

  /** How many words after a number make it a percentage. "harĩ igana rĩmwe rĩa ikũmi" is out of 110. */
  #percentWords(end: number, table: Table): number {
    for (const phrase of formsOf(table, 'percent', 'after')) {
      const words = phrase.split(' ');
      if (!this.#says(words, end)) continue;
      const last = end + words.length - 1;
      const longest = readNumbers(this.#lexicon, this.#texts, last)[0]?.end ?? 0;
      if (longest <= last + 1) return words.length;
    }
    return 0;
  }

  /** "zero seven double two …", unless it counts up from one or repeats one digit. */
  #digits(at: number, table: Table): NumberEntity | null {
    // Inside of a count that stayed in words.
    if (this.#numberEnd < at && this.#digit(at - 1, table.language) !== null) return null;
    let text = '';
    let times = 1;
    let end = at;
    for (; end <= at + NUMBER_WORDS_MAX; end += 1) {
      const repeat = this.#find(end, 'repeat', table.language);
      if (repeat !== undefined) {
        times = repeat.value;
        continue;
      }
      const digit = this.#digit(end, table.language);
      if (digit === null) break;
      text += digit.repeat(times);
      times = 1;
    }
    const isCount = '123456789'.startsWith(text) || /^(.)\1*$/u.test(text);
    const isLong = end > at + NUMBER_WORDS_MAX;
    if (text.length < DIGITS_MIN || end - at < 3 || times > 1 || isCount || isLong) return null;
    if (this.#isCutOff(at, end)) return null;
    return this.#make(at, end, { kind: 'digits', text, value: null, language: table.language });
  }

  #find(at: number, kind: Kind, language: NumberLanguage) {
    const { parts } = this.#look(at);
    const roles = parts.length === 1 ? (parts[0] ?? []) : [];
    return roles.find((role) => role.kind === kind && role.language === language);
  }

  #digit(at: number, language: NumberLanguage): string | null {
    if (this.#find(at, 'zero', language) !== undefined) return '0';
    const unit = this.#find(at, 'unit', language);
    return unit?.tags.includes('counting') === true ? String(unit.value) : null;
  }

  #make(
    first: number,
    end: number,
    found: Pick<NumberEntity, 'kind' | 'text' | 'value' | 'language' | 'currency' | 'alternatives'>,
  ): NumberEntity {
    const words = this.#words.slice(first, end);
    const confidences = words.flatMap(({ confidence }) => confidence ?? []);
    return {
      ...found,
      first_word: first,
      end_word: end,
      start_ms: words[0]?.start_ms ?? 0,
      end_ms: words.at(-1)?.end_ms ?? 0,
      ...(confidences.length === words.length ? { confidence: Math.min(...confidences) } : {}),
    };
  }
}

function currencyOf(table: Table, word: string): string | undefined {
  return table.lines.find(
    ({ kind, forms }) => kind === 'currency' && forms.some(({ text }) => text === word),
  )?.tags[0];
}

const GROUPED = new Intl.NumberFormat('en-KE', { maximumFractionDigits: 6 });

/** 2004, but 19,500: without a comma below 10,000, so that a year looks like one. */
function write(value: number): string {
  return value < 10_000 ? String(value) : GROUPED.format(value);
}
