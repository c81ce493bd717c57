/** One measured or proved thing. `npm run bench -- NAME` and `npm run prove -- NAME` find it by its file's name. */
export interface Campaign {
  /** One line for the list that is printed when no name is given. */
  readonly about: string;
  run(options: CampaignOptions): Promise<CampaignResult>;
}

export interface CampaignOptions {
  /** The form for CI: the same work, smaller. */
  readonly short: boolean;
  /** What stood after the name on the command line, for campaigns that take a size or a seed. */
  readonly args: readonly string[];
  readonly log: (line: string) => void;
}

export interface CampaignResult {
  readonly passed: boolean;
  /** Names are kept stable: dashboards and notes read them. */
  readonly figures: Readonly<Record<string, number>>;
}
