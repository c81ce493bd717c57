/** What the gateway and the child process that confirms speech say to each other. One question is under way at a time. */

export interface SileroQuestion {
  /** At most one part of each stream. */
  readonly parts: readonly {
    readonly stream: number;
    readonly samples: Int16Array;
    /** Audio before it is missing. */
    readonly isFresh: boolean;
  }[];
  /** Streams that ended. */
  readonly closed: readonly number[];
}

export type SileroAnswer =
  | { readonly type: 'ready' }
  /** In the order of the parts. */
  | { readonly type: 'answer'; readonly probabilities: readonly Float32Array[] };
