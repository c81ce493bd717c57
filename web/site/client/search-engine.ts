import MiniSearch, { type Query, type SearchResult } from 'minisearch';
import type { SearchSection } from '../src/search-index.ts';
import { withSynonyms } from './search-synonyms.ts';

export interface Hit {
  readonly section: SearchSection;
  /** The words of the text that matched. */
  readonly terms: readonly string[];
}

export type Search = (query: string) => readonly Hit[];

interface Document extends SearchSection {
  readonly id: number;
  /** The title of the page, for its beginning only. */
  readonly title: string;
}

const SHOWN = 12;
/** Readers look for the way to do something first, then for its reference. Contributors' pages mention everything. */
const WEIGHTS: Readonly<Record<string, number>> = {
  Guides: 1.5,
  Reference: 0.5,
  Migrate: 0.6,
  Models: 0.5,
  Operate: 0.5,
  Contribute: 0.02,
};
/** A word that was meant, but not typed. */
const SYNONYM_WEIGHT = 0.3;
const WORDS = /[^\p{L}\p{M}\p{N}_]+/u;

/** Builds the index in small steps, so that the page stays responsive. */
export async function createSearch(sections: readonly SearchSection[]): Promise<Search> {
  const index = new MiniSearch<Document>({
    fields: ['title', 'page', 'heading', 'text'],
    searchOptions: {
      boost: { title: 10, page: 2, heading: 4 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      boostDocument: (id) => WEIGHTS[sections[Number(id)]?.group ?? ''] ?? 1,
    },
    tokenize: (text) => text.split(WORDS),
  });
  const documents = sections.map((section, id) => ({
    ...section,
    id,
    title: section.heading === '' ? section.page : '',
  }));
  await index.addAllAsync(documents, { chunkSize: 60 });
  return (query) =>
    index
      .search(meant(query))
      .slice(0, SHOWN)
      .flatMap((result) => toHit(result, sections));
}

/** Every word, or one that means the same. */
function meant(query: string): Query {
  const words = query.split(WORDS).filter(Boolean);
  return { combineWith: 'AND', queries: words.map(eitherWord) };
}

function eitherWord(word: string): Query {
  const [typed = word, ...others] = withSynonyms(word);
  return {
    combineWith: 'OR',
    queries: [
      typed,
      ...others.map((other) => ({
        queries: [other],
        boostTerm: () => SYNONYM_WEIGHT,
        fuzzy: false,
        prefix: false,
      })),
    ],
  };
}

function toHit(result: SearchResult, sections: readonly SearchSection[]): Hit[] {
  const section = sections[Number(result.id)];
  return section === undefined ? [] : [{ section, terms: result.terms }];
}
