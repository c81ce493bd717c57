import { spawnSync } from 'node:child_process';
import { parse } from 'parse5';

/** Parses a whole document and returns the errors that the HTML standard names. */
export function htmlProblems(code: string): string[] {
  const problems: string[] = [];
  parse(code, {
    onParseError: ({ code: name, startLine }) => problems.push(`line ${startLine}: ${name}`),
  });
  return problems;
}

const PARSE_XML = 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.stdin.buffer)';

/** Parses XML with Expat, by Python's standard library. */
export function xmlProblems(code: string): string[] {
  const { status, stderr } = spawnSync('python3', ['-c', PARSE_XML], {
    input: code,
    encoding: 'utf8',
  });
  return status === 0 ? [] : [stderr.trimEnd().split('\n').at(-1) ?? 'python3 failed'];
}
