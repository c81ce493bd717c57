/** How large the cell is and how it is used. */
export interface CellSettings {
  readonly streams: number;
  readonly nodes: number;
  readonly apis: number;
  /** The share of the slots that is in use before the storm. */
  readonly use: number;
  /** How many commits a second the database does. */
  readonly commits: number;
  readonly seed: number;
}

const STREAMS_PER_NODE = 250;
const NODES_MIN = 6;
/** Reserved, claimed and closed. */
const COMMITS_PER_SESSION = 3;

/** Reads options that are text, with a default for each. Returns null if one is no number. */
export function readCell(
  options: Readonly<Partial<Record<keyof CellSettings, string>>>,
): CellSettings | null {
  const streams = Number(options.streams ?? 300);
  const cell: CellSettings = {
    streams,
    nodes: Number(options.nodes ?? Math.max(NODES_MIN, Math.round(streams / STREAMS_PER_NODE))),
    apis: Number(options.apis ?? 4),
    use: Number(options.use ?? 0.6),
    commits: Number(options.commits ?? 2_000),
    seed: Number(options.seed ?? 1),
  };
  return Object.values(cell).every((value) => value > 0) ? cell : null;
}

/**
 * Times of one run. Clients start one after another, so that their first sessions take at most half of the database's commits.
 * Then the cell runs for a while before the storm.
 */
export function timesOf({ streams, commits }: CellSettings): { rampMs: number; stormAtMs: number } {
  const quickMs = Math.min(15_000, Math.max(2_000, streams * 4));
  const rampMs = Math.max(quickMs, (2_000 * streams * COMMITS_PER_SESSION) / commits);
  return { rampMs, stormAtMs: rampMs + 12_000 };
}
