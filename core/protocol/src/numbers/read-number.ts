import type { NumberLanguage } from '../languages.ts';
import type { Lexicon, Role } from './lexicon.ts';
import type { Kind } from './table.ts';

/** One way to read the words from `at` to `end` as a number. */
export interface Reading {
  readonly end: number;
  readonly value: number;
  /** Set if the number ends in a scale and its multiplier ("mirioni igĩrĩ"): a fraction then belongs to the multiplier. */
  readonly scale?: number;
  readonly language: NumberLanguage;
  /** Whether its words are of several languages ("ngiri ishirini na tano"). */
  readonly isMixed?: boolean;
}

/** A part of a word. */
interface Part {
  readonly roles: readonly Role[];
  readonly word: number;
  readonly isLastOfWord: boolean;
}

/** No number has as many words. A longer run of number words is read in pieces, so that its cost grows with its length. */
export const NUMBER_WORDS_MAX = 64;

/** All readings that start at the word `at`. The first is the longest, and of equally long ones that whose multiplier is largest. */
export function readNumbers(lexicon: Lexicon, words: readonly string[], at: number): Reading[] {
  const parts: Part[] = [];
  const last = Math.min(words.length, at + NUMBER_WORDS_MAX);
  for (let word = at; word < last; word += 1) {
    const found = lexicon.lookUp(words[word] ?? '');
    if (!found.isInNumbers) break;
    for (const [i, roles] of found.parts.entries()) {
      parts.push({ roles, word, isLastOfWord: i === found.parts.length - 1 });
    }
    // A particle ends the number.
    if (found.particle !== '') break;
  }
  const readings: Reading[] = [];
  for (const reading of parts.length === 0 ? [] : new Phrase(lexicon, parts).number(0, Infinity)) {
    const part = parts[reading.end - 1];
    if (part?.isLastOfWord !== true) continue;
    const whole = { ...reading, end: part.word + 1 };
    const same = readings.findIndex(({ end, value }) => end === whole.end && value === whole.value);
    if (same < 0) readings.push(whole);
    else if (readings[same]?.isMixed === true) readings[same] = whole;
  }
  return readings.toSorted((one, other) => other.end - one.end);
}

const HEADS: ReadonlySet<Kind> = new Set(['scale', 'hundred', 'tens']);

/** The grammar. Below a thousand a number is of one language; a scale and its multiplier may be of two. */
class Phrase {
  readonly #parts: readonly Part[];
  readonly #languages: readonly { language: NumberLanguage; isHeadFirst: boolean }[];

  constructor(lexicon: Lexicon, parts: readonly Part[]) {
    this.#parts = parts;
    this.#languages = lexicon.tables;
  }

  /** Numbers below `below`, those with the largest multiplier first. */
  number(at: number, below: number): Reading[] {
    const found: Reading[] = [];
    for (const { language, isHeadFirst } of this.#languages) {
      if (isHeadFirst) found.push(...this.#headFirst(at, below, language));
      else found.push(...this.#multiplierFirst(at, below, language));
    }
    return found;
  }

  #headFirst(at: number, below: number, language: NumberLanguage): Reading[] {
    const found: Reading[] = [];
    const scale = this.#find(at, 'scale', language);
    if (scale !== undefined && scale.value < below) {
      for (const multiplier of this.#multipliers(at + 1)) {
        const value = multiplier.value * scale.value;
        const isMixed = multiplier.language !== language;
        for (const rest of this.#rest(multiplier.end, scale.value)) {
          found.push(joined({ ...rest, value: value + rest.value }, language, isMixed));
        }
        const { end } = multiplier;
        found.push(joined({ end, value, scale: scale.value, language }, language, isMixed));
      }
      if (this.#joins(at + 1)) {
        for (const rest of this.number(at + 2, scale.value)) {
          found.push(joined({ ...rest, value: scale.value + rest.value }, language, false));
        }
      }
      found.push({ end: at + 1, value: scale.value, scale: scale.value, language });
    }
    found.push(...this.#below1000(at, language).filter(({ value }) => value < below));
    return found;
  }

  #multipliers(at: number): Reading[] {
    return this.#languages.flatMap(({ language, isHeadFirst }) =>
      isHeadFirst ? this.#below1000(at, language) : this.#englishBelow1000(at, language),
    );
  }

  /** What follows a scale: after a conjunction anything smaller, else only a part that has its own head. */
  #rest(at: number, below: number): Reading[] {
    if (this.#joins(at)) return this.number(at + 1, below);
    const isHead = this.#roles(at).some(
      ({ kind, tags }) => HEADS.has(kind) || tags.includes('joinless'),
    );
    return isHead ? this.number(at, below) : [];
  }

  #below1000(at: number, language: NumberLanguage): Reading[] {
    const hundred = this.#find(at, 'hundred', language);
    if (hundred === undefined) return this.#below100(at, language);
    const multiplier = this.#find(at + 1, 'unit', language);
    const found: Reading[] = [];
    const add = (end: number, value: number, isCounted: boolean): void => {
      const isTens =
        this.#find(end, 'tens', language) !== undefined ||
        this.#find(end, 'ten', language)?.tags.includes('joinless') === true;
      const from = this.#joins(end, language) ? end + 1 : isCounted && isTens ? end : null;
      for (const rest of from === null ? [] : this.#below100(from, language)) {
        found.push({ ...rest, value: value + rest.value });
      }
      found.push({ end, value, language });
    };
    if (multiplier !== undefined) add(at + 2, multiplier.value * 100, true);
    if (hundred.tags.includes('one')) add(at + 1, 100, false);
    return found;
  }

  #below100(at: number, language: NumberLanguage): Reading[] {
    const found: Reading[] = [];
    const isHead = this.#find(at, 'tens', language) !== undefined;
    const multiplier = isHead ? this.#find(at + 1, 'unit', language) : undefined;
    const whole = this.#find(at, 'ten', language);
    const add = (end: number, value: number): void => {
      const isJoined = this.#roles(end).some(({ kind }) => kind === 'and');
      const unit = isJoined ? this.#find(end + 1, 'unit', language) : undefined;
      if (unit !== undefined) found.push({ end: end + 2, value: value + unit.value, language });
      found.push({ end, value, language });
    };
    if (multiplier !== undefined && multiplier.value > 1) add(at + 2, multiplier.value * 10);
    else if (whole !== undefined) add(at + 1, whole.value);
    const unit = this.#find(at, 'unit', language);
    if (unit !== undefined) found.push({ end: at + 1, value: unit.value, language });
    return found;
  }

  #multiplierFirst(at: number, below: number, language: NumberLanguage): Reading[] {
    const found: Reading[] = [];
    for (const count of this.#englishBelow1000(at, language)) {
      const scale = this.#find(count.end, 'scale', language);
      if (scale !== undefined && scale.value < below) {
        const value = count.value * scale.value;
        const end = count.end + 1;
        const from = this.#find(end, 'and', language) === undefined ? end : end + 1;
        for (const rest of this.#multiplierFirst(from, scale.value, language)) {
          found.push({ ...rest, value: value + rest.value });
        }
        found.push({ end, value, scale: scale.value, language });
      }
      if (count.value < below) found.push(count);
    }
    return found;
  }

  #englishBelow1000(at: number, language: NumberLanguage): Reading[] {
    const small = this.#englishBelow100(at, language);
    const unit = this.#find(at, 'unit', language);
    if (unit === undefined || this.#find(at + 1, 'hundred', language) === undefined) return small;
    const value = unit.value * 100;
    const from = this.#find(at + 2, 'and', language) === undefined ? at + 2 : at + 3;
    const more = this.#englishBelow100(from, language).map((rest) => ({
      ...rest,
      value: value + rest.value,
    }));
    return [...more, { end: at + 2, value, language }, ...small];
  }

  #englishBelow100(at: number, language: NumberLanguage): Reading[] {
    const found: Reading[] = [];
    const ten = this.#find(at, 'ten', language);
    const unit = this.#find(ten === undefined ? at : at + 1, 'unit', language);
    const isRound = ten === undefined || ten.value >= 20;
    if (unit !== undefined && isRound) {
      const end = ten === undefined ? at + 1 : at + 2;
      found.push({ end, value: (ten?.value ?? 0) + unit.value, language });
    }
    if (ten !== undefined) found.push({ end: at + 1, value: ten.value, language });
    return found;
  }

  #roles(at: number): readonly Role[] {
    return this.#parts[at]?.roles ?? [];
  }

  #find(at: number, kind: Kind, language: NumberLanguage): Role | undefined {
    return this.#roles(at).find((role) => role.kind === kind && role.language === language);
  }

  #joins(at: number, language?: NumberLanguage): boolean {
    return this.#roles(at).some(
      (role) =>
        (role.kind === 'and' || role.kind === 'of') &&
        (language === undefined || role.language === language),
    );
  }
}

/** A number of two parts has the language of its first word. */
function joined(reading: Reading, language: NumberLanguage, isMixed: boolean): Reading {
  const mixed = isMixed || reading.isMixed === true || reading.language !== language;
  return { ...reading, language, ...(mixed ? { isMixed: true } : {}) };
}
