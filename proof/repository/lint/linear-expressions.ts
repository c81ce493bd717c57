import {
  CharSet,
  isDisjointWith,
  JS,
  NFA,
  type Concatenation,
  type Element,
  type NoParent,
} from 'refa';
import { analyse } from 'scslre';

/**
 * A rule for oxlint: a regular expression takes time that grows with the length of the text, not with its square. Callers
 * choose the text, and one thread serves all of them.
 */

interface RegExpNode {
  readonly regex?: { readonly pattern: string; readonly flags: string };
}

interface Context {
  report(problem: { node: RegExpNode; message: string }): void;
}

export const linear = {
  create: (context: Context) => ({
    Literal(node: RegExpNode): void {
      const problem = node.regex === undefined ? null : findSuperLinear(node.regex);
      if (problem !== null) context.report({ node, message: problem });
    },
  }),
};

export default { meta: { name: 'svc' }, rules: { 'linear-expression': linear } };

/** Returns why the expression may take quadratic or exponential time, or null. */
export function findSuperLinear(regex: {
  readonly pattern: string;
  readonly flags: string;
}): string | null {
  const literal = { source: regex.pattern, flags: regex.flags };
  const [report] = analyse(literal).reports;
  if (report !== undefined) {
    return `This expression can take ${report.exponential ? 'exponential' : 'quadratic'} time.`;
  }
  return repeatsItsStart(literal)
    ? 'This expression can take quadratic time: its start may be found again in what follows it. Search in two steps.'
    : null;
}

/**
 * `A.*B` looks for B after each A. If the part that repeats can hold A and no B follows, the same text is read again for
 * each A.
 */
function repeatsItsStart(literal: { readonly source: string; readonly flags: string }): boolean {
  if (literal.flags.includes('y')) return false;
  const parser = JS.Parser.fromLiteral(literal);
  const { expression, maxCharacter } = parser.parse({ backreferences: 'disable' });
  const anything = repeated([charClass(CharSet.all(maxCharacter))]);
  const automaton = (elements: Elements): NFA =>
    NFA.fromRegex(concatenation(elements), { maxCharacter }, { assertions: 'ignore' });
  const unanchored = expression.alternatives.filter(({ elements: [first] }) => !isAnchor(first));
  return unanchored.some(({ elements }) =>
    elements.some((element, at) => {
      const isRepeated = element.type === 'Quantifier' && element.max === Infinity;
      const start = elements.slice(0, at).flatMap(consumed);
      const canFail = elements.slice(at + 1).some((next) => !isOptional(next));
      if (!isRepeated || !canFail || start.length === 0) return false;
      const part = automaton([repeated([element])]);
      return !isDisjointWith(part, automaton([anything, ...start, anything]));
    }),
  );
}

/** `^` is a place without a character before it. */
function isAnchor(element: NoParent<Element> | undefined): boolean {
  return element?.type === 'Assertion' && element.kind === 'behind' && element.negate;
}

function isOptional(element: NoParent<Element>): boolean {
  return element.type === 'Quantifier' && element.min === 0;
}

/** What must be there before the repeated part. */
function consumed(element: NoParent<Element>): Elements {
  if (element.type !== 'Assertion') return [element];
  const { alternatives, kind, negate } = element;
  return kind === 'behind' && !negate ? [{ type: 'Alternation', alternatives }] : [];
}

type Elements = readonly NoParent<Element>[];

function concatenation(elements: Elements): NoParent<Concatenation> {
  return { type: 'Concatenation', elements: [...elements] };
}

function charClass(characters: CharSet): NoParent<Element> {
  return { type: 'CharacterClass', characters };
}

function repeated(elements: Elements): NoParent<Element> {
  const alternatives = [concatenation(elements)];
  return { type: 'Quantifier', alternatives, lazy: false, min: 0, max: Infinity };
}
