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

const NOTHING: Parts = { parts: [], roles: [], isInNumbers: false, particle: '' };

/** The words of a language's table, and of those that its speakers borrow numbers from. */
export class Lexicon {
  readonly tables: readonly Table[];
  /** Phrases that are in no number. */
  readonly never: readonly (readonly string[])[];
  readonly #roles = new Map<string, Role[]>();
  readonly #known = new Map<string, Parts>();
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

function isUnitOrTen({ kind }: Role): boolean {
  return kind === 'unit' || kind === 'ten';
}
