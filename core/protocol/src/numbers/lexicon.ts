import type { NumberLanguage } from '../languages.ts';
import { IN_NUMBERS, TABLES, formsOf, type Kind, type Table } from './table.ts';

/** What a word, or a part of it, can be in a number. */
export interface Role {
  readonly kind: Kind;
  readonly value: number;
  readonly tags: readonly string[];
  readonly language: NumberLanguage;
  readonly isWeak: boolean;
}

/** A word cut into parts with roles: "gachiel" is "gi" and "achiel". */
export interface Parts {
  readonly parts: readonly (readonly Role[])[];
  /** The roles of all parts. */
  readonly roles: readonly Role[];
  readonly isInNumbers: boolean;
  /** What is joined to the end of the number, as in "ĩtanorĩ". Empty if nothing is. */
  readonly particle: string;
}

/** From these lengths on, one letter or two make a word that was misheard. */
const NEAR_LETTERS = [5, 7] as const;

const NOTHING: Parts = { parts: [], roles: [], isInNumbers: false, particle: '' };

/** The words of a language's table, and of those that its speakers borrow numbers from. */
export class Lexicon {
  readonly tables: readonly Table[];
  /** Phrases that are in no number. */
  readonly never: readonly (readonly string[])[];
  readonly #roles = new Map<string, Role[]>();
  readonly #known = new Map<string, Parts>();
  /** Number words that are hardly anything else. */
  readonly #clear: readonly string[];
  readonly #elided: readonly string[];
  readonly #particles: readonly string[];

  constructor(language: NumberLanguage) {
    const own = TABLES[language];
    this.tables = [...new Set([own, TABLES.sw, TABLES.en])];
    this.never = formsOf(own, 'never').map((phrase) => phrase.split(' '));
    this.#elided = formsOf(own, 'elided');
    this.#particles = formsOf(own, 'particle');
    for (const table of this.tables) {
      for (const { forms, ...line } of table.lines) {
        for (const { text, isWeak } of forms) {
          const roles = this.#roles.get(text) ?? [];
          roles.push({ ...line, language: table.language, isWeak });
          this.#roles.set(text, roles);
        }
      }
    }
    this.#clear = [...this.#roles].flatMap(([text, roles]) =>
      roles.some(({ kind, isWeak }) => CLEAR.has(kind) && !isWeak) ? text : [],
    );
  }

  /** Looks up a word as `foldKeyterm` spells it. */
  lookUp(word: string): Parts {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    const { parts, particle } = this.#find(word);
    if (parts.length === 0) return NOTHING;
    const roles = parts.flat();
    const isInNumbers = roles.some(({ kind }) => IN_NUMBERS.has(kind));
    const found = { parts, particle, roles, isInNumbers };
    this.#known.set(word, found);
    return found;
  }

  /** Whether a word that is in no number sounds nearly like one that is: "ithaatũ". */
  isNearly(word: string): boolean {
    if (this.lookUp(word).parts.length > 0) return false;
    return this.#clear.some((form) => {
      const length = Math.max(word.length, form.length);
      const most = length < NEAR_LETTERS[0] ? 0 : length < NEAR_LETTERS[1] ? 1 : 2;
      return isWithin(word, form, most);
    });
  }

  is(word: string, ...kinds: readonly Kind[]): boolean {
    return this.lookUp(word).roles.some(({ kind }) => kinds.includes(kind));
  }

  #find(word: string): Pick<Parts, 'parts' | 'particle'> {
    const whole = this.#withoutParticle(word);
    if (whole.length > 0) return { parts: whole, particle: '' };
    for (const particle of this.#particles) {
      const parts = word.endsWith(particle)
        ? this.#withoutParticle(word.slice(0, -particle.length))
        : [];
      if (parts.at(-1)?.some(isUnitOrTen) === true) return { parts, particle };
    }
    return { parts: [], particle: '' };
  }

  #withoutParticle(word: string): readonly (readonly Role[])[] {
    const whole = this.#roles.get(word);
    if (whole !== undefined) return [whole];
    const [prefix] = this.#elided;
    const rest =
      prefix !== undefined && word.startsWith(prefix)
        ? this.#roles.get(word.slice(prefix.length))
        : undefined;
    const language = this.tables[0]?.language;
    if (rest?.some((role) => isUnitOrTen(role) && role.language === language) !== true) return [];
    const and = this.#roles.get(formsOf(TABLES[language ?? 'en'], 'and')[0] ?? '') ?? [];
    return [and, rest];
  }
}

const CLEAR: ReadonlySet<Kind> = new Set(['unit', 'ten', 'tens', 'hundred', 'scale', 'zero']);

/** Whether at most so many letters differ, are added or are missing. */
function isWithin(word: string, other: string, most: number): boolean {
  if (Math.abs(word.length - other.length) > most) return false;
  let start = 0;
  while (start < word.length && word[start] === other[start]) start += 1;
  const [left, right] = [word.slice(start), other.slice(start)];
  if (left === '' || right === '') return left.length + right.length <= most;
  if (most === 0) return false;
  return (
    isWithin(left.slice(1), right.slice(1), most - 1) ||
    isWithin(left.slice(1), right, most - 1) ||
    isWithin(left, right.slice(1), most - 1)
  );
}

function isUnitOrTen({ kind }: Role): boolean {
  return kind === 'unit' || kind === 'ten';
}
