import { ConfigMessage, Endpointing, FlushMessage } from '@svc-asr/protocol';

/** An option of the protocol, and the words that the pages use for it. */
export interface Feature {
  readonly option: string;
  readonly names: readonly string[];
  /** The words of its description. A question that has two of them is about this option. */
  readonly described: ReadonlySet<string>;
}

/** The options of `config` that no other message has, and those of endpointing. */
export function features(): Feature[] {
  const options = Object.entries({ ...ConfigMessage.properties, ...Endpointing.properties });
  return options
    .filter(([option]) => !(option in FlushMessage.properties))
    .map(([option, schema]) => {
      const description = 'description' in schema ? String(schema.description) : '';
      return { option, names: namesOf(option, description), described: wordsOf(description) };
    });
}

/** `eager_ms` is also "eager", `keyterms` also "keyterm", and "numbers as digits" also "digits". */
function namesOf(option: string, description: string): string[] {
  const plain = option.replace(/_ms$/, '').replaceAll('_', ' ');
  const result = new RegExp(`${option} as (\\w+)`).exec(description)?.[1];
  return [
    ...new Set([option, plain, plain.replace(/s$/, ''), ...(result === undefined ? [] : [result])]),
  ];
}

/** Nouns and verbs, roughly: words of the first sentence with four letters or more. */
function wordsOf(text: string): Set<string> {
  const [sentence = ''] = text.toLowerCase().split('. ');
  return new Set(sentence.match(/[a-z]{4,}/g));
}

const MISSING = '(?:supported|available|possible|offered|implemented|provided)';
const NOT = "(?:(?:is|are) (?:not|un)|isn't|aren't|can't be|cannot be) ?(?:yet )?";
const LACKS = "(?:doesn't|does not|don't|do not|can't|cannot) (?:support|have|offer|take|accept)";

/** Sentences that say that there is no X. "Without X" and "no X in the response" speak of one case. */
function sentencesThatDeny(name: string): RegExp {
  return new RegExp(
    [
      `\\b${name} ${NOT}${MISSING}`,
      `\\b${LACKS} (?:any )?${name}\\b`,
      `\\bno (?:\\w+(?:,? or |, ))*${name}(?= ?[.,;:|]| yet| support)`,
      `\\bno support for ${name}\\b`,
    ].join('|'),
    'gi',
  );
}

/** Returns the places where a page says that an option doesn't exist, as `page: words`. */
export function denials(all: readonly Feature[], pages: ReadonlyMap<string, string>): string[] {
  return [...pages].flatMap(([page, markdown]) => {
    const text = plainText(markdown);
    return all.flatMap((feature) => {
      const words = [
        ...feature.names.flatMap((name) => text.match(sentencesThatDeny(name)) ?? []),
        ...deniedInTables(feature, text),
        ...deniedInAnswers(feature, text),
        ...deniedUnderHeadings(feature, text),
      ];
      return [...new Set(words)].map(
        (said) => `${page}: "${said}", but config has ${feature.option}`,
      );
    });
  });
}

/** Without code blocks, links and marks. Paragraphs become lines; a row of a table stays one. */
function plainText(markdown: string): string {
  return markdown
    .replaceAll(/^ *```.*?^ *```$/gms, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/(?<![|\n])\n(?![|\n])/g, ' ');
}

/** Tables with a column of what is missing ("it doesn't"), and rows that end in "not available". */
function deniedInTables({ names }: Feature, text: string): string[] {
  const denied: string[] = [];
  let missing = -1;
  let previous = '';
  for (const line of text.split('\n')) {
    const cells = line.split('|').map((cell) => cell.trim());
    if (/^\|[-|: ]+$/.test(line)) {
      const head = previous.split('|').map((cell) => cell.trim());
      missing = head.findIndex((cell) => /(?:doesn't|does not|not supported|missing)$/i.test(cell));
    } else if (!line.startsWith('|')) {
      missing = -1;
    } else {
      const listed = (cells[missing] ?? '').toLowerCase().split(/,? or |, /);
      const isRefused = cells.some((cell) =>
        /^(?:not|un) ?(?:available|supported)\.?$/i.test(cell),
      );
      const isNamed = names.some((name) => cells[1]?.toLowerCase() === name);
      if (names.some((name) => listed.includes(name)) || (isRefused && isNamed)) denied.push(line);
    }
    previous = line;
  }
  return denied;
}

/** A list below a heading such as "What we don't have". */
function deniedUnderHeadings({ names }: Feature, text: string): string[] {
  const lists = [...text.matchAll(/^#+ .*(?:don't|doesn't|do not|does not) have\n+([^#\n]+)/gim)];
  const items = lists.flatMap(([, list = '']) => list.toLowerCase().split(/[,.;()]| and | or /));
  return items.filter((item) => names.includes(item.replaceAll(' ', '')));
}

/** `**Can I …?** No.` */
function deniedInAnswers({ names, described }: Feature, text: string): string[] {
  return [...text.matchAll(/\*\*([^*]+\?)\*\* No\b/g)]
    .filter(([, question = '']) => {
      const words = question.toLowerCase().match(/[a-z_]+/g) ?? [];
      return (
        words.some((word) => names.includes(word)) ||
        words.filter((word) => described.has(word)).length >= 2
      );
    })
    .map(([said]) => said);
}
