/** What the file of a benchmark or fault campaign exports. `npm run bench -- NAME` and `npm run prove -- NAME` find it by its name. */
export interface Campaign {
  /** One-line description for the list printed without a name. */
  readonly about: string;
  run(options: CampaignOptions): Promise<CampaignResult>;
}

export interface CampaignOptions {
  /** A smaller version of the same work, for CI. */
  readonly short: boolean;
  /** Further command-line arguments, such as a size or a seed. */
  readonly args: readonly string[];
  readonly log: (line: string) => void;
}

export interface CampaignResult {
  readonly passed: boolean;
  /** Figures by name. Names are stable, because dashboards read them. */
  readonly figures: Readonly<Record<string, number>>;
}

/** Names the figures of a part of a campaign after it. */
export function prefixed(prefix: string, { figures }: CampaignResult): Record<string, number> {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [`${prefix}_${name}`, value]),
  );
}
