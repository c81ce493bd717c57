import MiniSearch, { type SearchResult } from 'minisearch';
import type { SearchSection } from '../src/search-index.ts';

export interface Hit {
  readonly section: SearchSection;
  /** The words of the text that matched. */
  readonly terms: readonly string[];
}

export type Search = (query: string) => readonly Hit[];

const SHOWN = 12;
/** Decision records and operators' pages mention everything. Readers mostly look for the API. */
const WEIGHTS: Readonly<Record<string, number>> = { Contribute: 0.4, Operate: 0.75 };

/** Builds the index in small steps, so that the page stays responsive. */
export async function createSearch(sections: readonly SearchSection[]): Promise<Search> {
  const index = new MiniSearch<SearchSection & { id: number }>({
    fields: ['page', 'heading', 'text'],
    searchOptions: {
      boost: { page: 3, heading: 4 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
      boostDocument: (id) => WEIGHTS[sections[Number(id)]?.group ?? ''] ?? 1,
    },
    tokenize: (text) => text.split(/[^\p{L}\p{M}\p{N}_]+/u),
  });
  const documents = sections.map((section, id) => ({ ...section, id }));
  await index.addAllAsync(documents, { chunkSize: 60 });
  return (query) =>
    index
      .search(query)
      .slice(0, SHOWN)
      .flatMap((result) => toHit(result, sections));
}

function toHit(result: SearchResult, sections: readonly SearchSection[]): Hit[] {
  const section = sections[Number(result.id)];
  return section === undefined ? [] : [{ section, terms: result.terms }];
}
