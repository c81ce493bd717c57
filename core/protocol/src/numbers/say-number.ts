import { formsOf, type Kind, type Table } from './table.ts';

/** How the parts of a number are joined. Texts have every way. */
export interface Manner {
  /** The class of the counted noun, with which the last unit agrees. */
  readonly agreement?: string;
  /** `all`: "na" between all parts. `last`: only before units and ten. `of`: "ma" or "rĩa" after hundreds. */
  readonly joins?: 'all' | 'last' | 'of';
  /** Dholuo: "gi achiel" rather than "gachiel". */
  readonly isApart?: boolean;
}

type Piece = { readonly text: string; readonly kind: Kind; readonly isOne?: boolean };

/** The words of a whole number from 1 to 999,999,999,999. */
export function sayNumber(value: number, table: Table, manner: Manner = {}): string {
  return table.isHeadFirst ? sayHeadFirst(value, table, manner) : sayMultiplierFirst(value, table);
}

/** All manners that a language has. */
export function mannersOf(table: Table): Manner[] {
  const classes = new Set(table.lines.flatMap(({ kind, tags }) => (kind === 'unit' ? tags : [])));
  const joins = (['all', 'last', 'of'] as const).filter(
    (one) => one !== 'of' || formsOf(table, 'of').length > 0,
  );
  const apart = formsOf(table, 'elided').length > 0 ? [false, true] : [false];
  return [...classes].flatMap((agreement) =>
    joins.flatMap((join) => apart.map((isApart) => ({ agreement, joins: join, isApart }))),
  );
}

function sayHeadFirst(value: number, table: Table, manner: Manner): string {
  const pieces: Piece[] = [];
  let rest = value;
  for (const scale of [1e9, 1e6, 1e3]) {
    const count = Math.floor(rest / scale);
    if (count > 0) {
      const multiplier = sayHeadFirst(count, table, { ...manner, agreement: 'counting' });
      pieces.push({ text: `${first(table, 'scale', scale)} ${multiplier}`, kind: 'scale' });
    }
    rest %= scale;
  }
  const hundreds = Math.floor(rest / 100);
  if (hundreds > 0) pieces.push(sayHundreds(hundreds, table));
  const tens = Math.floor((rest % 100) / 10);
  if (tens === 1 || (tens > 1 && formsOf(table, 'tens').length === 0)) {
    pieces.push({ text: first(table, 'ten', tens * 10), kind: 'ten' });
  } else if (tens > 1) {
    pieces.push({
      text: `${formsOf(table, 'tens')[0]} ${agreeing(tens, table, 'tens')}`,
      kind: 'tens',
    });
  }
  if (rest % 10 > 0) {
    const agreement = manner.agreement ?? 'counting';
    pieces.push({ text: unit(rest % 10, table, agreement), kind: 'unit' });
  }
  return pieces
    .map((piece, at) => joint(table, manner, pieces[at - 1], piece) + piece.text)
    .join('');
}

/** "igana rĩmwe", "magana meerĩ". */
function sayHundreds(hundreds: number, table: Table): Piece {
  const many = formsOf(table, 'hundred', 'many')[0];
  const one = formsOf(table, 'hundred', 'one')[0];
  const head = hundreds === 1 ? one : (many ?? one);
  return {
    text: `${head} ${agreeing(hundreds, table, 'hundred')}`,
    kind: 'hundred',
    isOne: hundreds === 1,
  };
}

function joint(table: Table, manner: Manner, before: Piece | undefined, piece: Piece): string {
  if (before === undefined) return '';
  const isSmall =
    piece.kind === 'unit' || (piece.kind === 'ten' && formsOf(table, 'tens').length > 0);
  const [elided] = formsOf(table, 'elided');
  if (isSmall && elided !== undefined && manner.isApart !== true) return ` ${elided}`;
  if (manner.joins === 'of' && before.kind === 'hundred') {
    return ` ${formsOf(table, 'of', before.isOne === true ? 'one' : 'many')[0]} `;
  }
  if (manner.joins === 'last' && !isSmall) return ' ';
  return ` ${formsOf(table, 'and')[0]} `;
}

function sayMultiplierFirst(value: number, table: Table): string {
  const parts: string[] = [];
  let rest = value;
  for (const scale of [1e9, 1e6, 1e3]) {
    const count = Math.floor(rest / scale);
    if (count > 0) parts.push(sayMultiplierFirst(count, table), first(table, 'scale', scale));
    rest %= scale;
  }
  if (rest >= 100) {
    parts.push(first(table, 'unit', Math.floor(rest / 100)), first(table, 'hundred', 0));
  }
  rest %= 100;
  if (rest > 0 && parts.length > 0) parts.push(formsOf(table, 'and')[0] ?? '');
  if (rest >= 20 || rest === 10) parts.push(first(table, 'ten', rest - (rest % 10)));
  else if (rest > 10) parts.push(first(table, 'ten', rest));
  if (rest % 10 > 0 && (rest < 10 || rest > 20)) parts.push(first(table, 'unit', rest % 10));
  return parts.join(' ');
}

function first(table: Table, kind: Kind, value: number): string {
  const line = table.lines.find((line) => line.kind === kind && line.value === value);
  if (line?.forms[0] === undefined) throw new RangeError(`No ${kind} ${value}: ${table.language}`);
  return line.forms[0].text;
}

function unit(value: number, table: Table, agreement: string): string {
  const line = table.lines.find(
    ({ kind, value: its, tags }) => kind === 'unit' && its === value && tags.includes(agreement),
  );
  return line?.forms[0]?.text ?? first(table, 'unit', value);
}

/** The multiplier of tens and hundreds agrees with its head: "mĩrongo ĩtano", "magana matano". */
function agreeing(value: number, table: Table, head: Kind): string {
  const line = table.lines.findLast(({ kind }) => kind === head);
  return unit(value, table, line?.tags.at(-1) ?? 'counting');
}
