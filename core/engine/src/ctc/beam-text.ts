import { CHUNK_SAMPLES } from '@svc-asr/protocol/constants.ts';
import type { TextScorer } from '../lm/text-scorer.ts';
import type { Transcript } from '../transcript.ts';
import { CTC_FRAME_SAMPLES, type Logits } from './logits.ts';
import { toPosteriors } from './posteriors.ts';
import { PrefixBeam, type BeamSettings } from './prefix-beam.ts';
import { PrefixTree } from './prefix-tree.ts';
import { transcriptOf, wordsOf, type Spelling, type Token } from './spoken-words.ts';
import type { CtcTokens } from './tokens.ts';
import type { UtteranceText, WindowPlace } from './utterance-text.ts';

/** A letter that the best text lacks may stay in others for so many frames: half a chunk. */
const DOUBT_FRAMES = CHUNK_SAMPLES / CTC_FRAME_SAMPLES / 2;

/**
 * The text of an utterance by beam search. Final frames advance the beam. Frames without right context advance a copy, whose
 * best text is shown. After each window the letters that this text has in final frames are committed: hypotheses that
 * disagree are dropped, so that stable text never changes and the beam stays small.
 */
export class BeamText implements UtteranceText {
  /** The labels of the model that may be written, in the order of the beam's. */
  readonly #labels: readonly number[];
  readonly #tree: PrefixTree;
  readonly #kept: PrefixBeam;
  readonly #keyterms: Spelling | undefined;
  #shown: PrefixBeam;
  #committed: Token[] = [];
  #ended = false;

  constructor(
    tokens: CtcTokens,
    input: {
      readonly scorer: TextScorer;
      readonly settings: BeamSettings;
      readonly keyterms?: Spelling;
    },
  ) {
    this.#labels = tokens.usable;
    const texts = tokens.usable.map((label) => tokens.texts[label] ?? '');
    this.#tree = new PrefixTree(texts, input.scorer);
    this.#kept = new PrefixBeam(this.#tree, input.settings);
    this.#shown = this.#kept;
    this.#keyterms = input.keyterms;
  }

  get keptFrames(): number {
    return this.#kept.frames;
  }

  /** How many hypotheses wait for more audio. */
  get hypotheses(): number {
    return this.#kept.size;
  }

  /** How many texts after the committed one are remembered. */
  get prefixes(): number {
    return this.#tree.size;
  }

  add(window: Logits, place: WindowPlace): void {
    const fromFrame = this.#kept.frames - place.firstFrame;
    const posteriors = toPosteriors(window, { labels: this.#labels, fromFrame });
    const kept = Math.max(0, Math.min(place.keepTo - this.#kept.frames, posteriors.count));
    this.#kept.advance(posteriors, 0, kept);
    // A window slightly shorter than its last frame doesn't cover it.
    this.#kept.skip(Math.max(0, place.keepTo - this.#kept.frames));
    this.#shown = this.#kept.fork();
    this.#shown.advance(posteriors, kept, posteriors.count);
    this.#commit();
  }

  end(): void {
    this.#ended = true;
  }

  peek(window: Logits, place: { firstFrame: number; audioMs: number }): Transcript {
    const fromFrame = this.#kept.frames - place.firstFrame;
    const posteriors = toPosteriors(window, { labels: this.#labels, fromFrame });
    const shown = this.#kept.fork();
    shown.advance(posteriors, 0, posteriors.count);
    return this.#transcriptOf(this.#tokens(shown, true), place.audioMs);
  }

  transcript(audioMs: number): Transcript {
    return this.#transcriptOf(this.#tokens(), audioMs);
  }

  #transcriptOf(tokens: readonly Token[], audioMs: number): Transcript {
    const words = wordsOf(inOrder(tokens), audioMs);
    return transcriptOf({ words, committed: this.#committed, keyterms: this.#keyterms });
  }

  /** The last committed token is also the first of the path, where its frames may still grow. */
  #tokens(shown = this.#shown, isEnded = this.#ended): Token[] {
    return [...this.#committed.slice(0, -1), ...shown.best(isEnded).tokens];
  }

  #commit(): void {
    const { prefix } = this.#shown.best(false);
    const tokens = this.#tokens();
    const later = tokens.findIndex((token) => token.firstFrame >= this.#kept.frames);
    const committed = later < 0 ? tokens : tokens.slice(0, later);
    const root = prefix.ancestorAt(committed.length);
    if (root === null) throw new RangeError('Committed text is never taken back.');
    const oldestFrame = this.#kept.frames - DOUBT_FRAMES;
    this.#committed = inOrder(committed);
    this.#shown.keep(root, oldestFrame);
    this.#tree.moveRoot(root, this.#kept.keep(root, oldestFrame));
  }
}

/** Tokens of two alignments may overlap by some frames. */
function inOrder(tokens: readonly Token[]): Token[] {
  let from = 0;
  return tokens.map((token) => {
    const firstFrame = Math.max(from, token.firstFrame);
    from = firstFrame;
    return { ...token, firstFrame, lastFrame: Math.max(firstFrame, token.lastFrame) };
  });
}
