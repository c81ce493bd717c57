import { PrefixTree, type Prefix } from '../ctc/prefix-tree.ts';
import type { BeamSettings } from '../ctc/prefix-beam.ts';
import { transcriptOf, wordsOf, type Spelling, type Token } from '../ctc/spoken-words.ts';
import type { TextScorer } from '../lm/text-scorer.ts';
import type { Transcript } from '../transcript.ts';
import { TransducerBeam, type NextTokens, type TransducerHypothesis } from './transducer-beam.ts';

/** An encoder frame of the Zipformer family. */
const TRANSDUCER_FRAME_MS = 40;
/** A token that is older than this is committed: 0.56 s, as with CTC models. */
const COMMITTED_AFTER_FRAMES = 14;

/**
 * The text of an utterance by beam search over a transducer. Tokens of the best text that are old enough are committed, and
 * hypotheses that disagree are dropped, so that stable text never changes and the beam stays small.
 */
export class TransducerText {
  readonly #tree: PrefixTree;
  readonly #beam: TransducerBeam;
  readonly #committed: Token[];
  readonly #keyterms: Spelling | undefined;
  /** A copy shares the tree, so it must not forget prefixes. */
  readonly #isCopy: boolean;
  #ended = false;

  private constructor(parts: {
    readonly tree: PrefixTree;
    readonly beam: TransducerBeam;
    readonly committed: Token[];
    readonly keyterms: Spelling | undefined;
    readonly isCopy: boolean;
  }) {
    this.#tree = parts.tree;
    this.#beam = parts.beam;
    this.#committed = parts.committed;
    this.#keyterms = parts.keyterms;
    this.#isCopy = parts.isCopy;
  }

  static begin(input: {
    readonly texts: readonly string[];
    readonly contextTokens: number;
    readonly scorer: TextScorer;
    readonly settings: BeamSettings;
    readonly keyterms?: Spelling;
  }): TransducerText {
    const tree = new PrefixTree(input.texts, input.scorer);
    const beam = new TransducerBeam(tree, input.settings, input.contextTokens);
    return new TransducerText({
      tree,
      beam,
      committed: [],
      keyterms: input.keyterms,
      isCopy: false,
    });
  }

  /** A copy that goes its own way. Use it before the original goes on. */
  fork(): TransducerText {
    return new TransducerText({
      tree: this.#tree,
      beam: this.#beam.fork(),
      committed: [...this.#committed],
      keyterms: this.#keyterms,
      isCopy: true,
    });
  }

  get hypotheses(): readonly TransducerHypothesis[] {
    return this.#beam.hypotheses;
  }

  /** How many texts after the committed one are remembered. */
  get prefixes(): number {
    return this.#tree.size;
  }

  step(next: NextTokens): void {
    this.#beam.step(next);
  }

  /** Commits what is old enough. Call it after each chunk of the encoder, so that replays commit the same. */
  commit(): void {
    const { prefix, tokens } = this.#beam.best(false);
    const oldest = this.#beam.frames - COMMITTED_AFTER_FRAMES;
    const later = tokens.filter((token) => token.firstFrame > oldest).length;
    this.#committed.push(...tokens.slice(0, tokens.length - later));
    const root: Prefix | null = prefix.ancestorAt(prefix.depth - later);
    if (root === null) throw new RangeError('Committed text is never taken back.');
    const used = this.#beam.keep(root);
    if (!this.#isCopy) this.#tree.moveRoot(root, used);
  }

  end(): void {
    this.#ended = true;
  }

  transcript(audioMs: number): Transcript {
    const tokens = [...this.#committed, ...this.#beam.best(this.#ended).tokens];
    const words = wordsOf(tokens, audioMs, TRANSDUCER_FRAME_MS);
    return transcriptOf({ words, committed: this.#committed, keyterms: this.#keyterms });
  }
}
