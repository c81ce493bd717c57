import type { KeytermsInForce } from '@svc-asr/protocol';
import type { KeytermRefusal } from '@svc-asr/protocol/keyterms.ts';

/** Which terms of a list the service uses, and why not the others. */
export interface KeytermsAnswer {
  /** As the models spell them. */
  readonly taken: readonly string[];
  /** As they were written in the list. */
  readonly refused: readonly {
    readonly index: number;
    readonly term: string;
    readonly reason: KeytermRefusal;
  }[];
  /** How many terms at the end of the list are over the limit. */
  readonly rest: number;
}

/** One term per line, or separated by commas. */
export function splitKeyterms(text: string): readonly string[] {
  return text
    .split(/[\n,;]/u)
    .map((term) => term.trim())
    .filter((term) => term !== '');
}

/** Names the refused terms, which the service knows by position only. */
export function toAnswer(
  asked: readonly string[],
  { taken, refused }: KeytermsInForce,
): KeytermsAnswer {
  const tail = refused.find(({ reason }) => reason === 'too_many');
  return {
    taken,
    refused: refused
      .filter((one) => one !== tail)
      .map(({ index, reason }) => ({ index, reason, term: asked[index] ?? '' })),
    rest: tail === undefined ? 0 : asked.length - tail.index,
  };
}
