import { REQUEST_SAMPLES } from '@svc-asr/protocol/request-samples.ts';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { allBlocks, pages, readPage, type Block } from './blocks.ts';
import { pythonErrors } from './python-blocks.ts';
import { syntaxError, unknownWords } from './shell-blocks.ts';
import { isTypeScript, typescriptErrors } from './typescript-blocks.ts';
import { differsFromConversation, jsonProblems } from './wire-messages.ts';

/** Declarations copied from compiled code, not programs. */
const DECLARATIONS = new Set(['docs/reference/typescript.md', 'docs/reference/python.md']);
/** Languages whose blocks are checked here, and those that nothing here can check. */
const CHECKED = new Set(['ts', 'tsx', 'python', 'sh', 'json', 'yaml', 'text', '']);
const UNCHECKED = new Set(['html', 'xml', 'sql', 'mermaid', 'http']);

const samples = Object.entries(REQUEST_SAMPLES).flatMap(([operation, own]) =>
  own.map(({ lang, source }): Block => {
    const where = `protocol/src/request-samples.ts ${operation}`;
    const language = { Shell: 'sh', TypeScript: 'ts', Python: 'python' }[lang];
    return { page: where, where: `${where}:1`, language, code: `${source}\n` };
  }),
);
const blocks = [...allBlocks(), ...samples].filter(({ page }) => !DECLARATIONS.has(page));

function broken(language: string, code: string): Block {
  return { page: 'broken.md', where: 'broken.md:1', language, code };
}

function report(own: readonly Block[], problemsOf: (block: Block) => readonly string[]): string[] {
  return own.flatMap((block) => problemsOf(block).map((problem) => `${block.where}: ${problem}`));
}

test('every code block names a language that is checked, or is known not to be', () => {
  const others = blocks.filter(
    ({ language }) => !CHECKED.has(language) && !UNCHECKED.has(language),
  );
  expect(others.map(({ where, language }) => `${where}: ${language}`)).toEqual([]);
  expect(blocks.length).toBeGreaterThan(150);
});

test('every TypeScript block compiles with the packages of the workspace and the library of the oldest Node', async () => {
  const wrong = broken('ts', "import { openStreams } from '@svc-asr/sdk/stream';\n");
  const errors = await typescriptErrors([...blocks.filter(isTypeScript), wrong]);
  expect(errors.filter((error) => !error.startsWith('broken.md'))).toEqual([]);
  expect(errors.filter((error) => error.startsWith('broken.md'))).toHaveLength(1);
});

test('every Python block uses names, attributes and arguments that the packages have', async () => {
  const wrong = broken('python', 'from svc_asr import SvcClient\n\nSvcClient(api_token="x")\n');
  const python = blocks.filter(({ language }) => language === 'python');
  const errors = await pythonErrors([...python, wrong]);
  expect(errors.filter((error) => !error.startsWith('broken.md'))).toEqual([]);
  expect(errors.filter((error) => error.startsWith('broken.md:3'))).toHaveLength(1);
});

test('every shell block parses', () => {
  const shell = blocks.filter(({ language }) => language === 'sh');
  expect(
    report(shell, ({ code }) => [syntaxError(code)].filter((error) => error !== null)),
  ).toEqual([]);
  expect(shell.length).toBeGreaterThan(80);
  expect(syntaxError('if true; echo 1')).toMatch('syntax error');
});

test('every shell block uses commands, options, npm scripts and paths that exist', () => {
  const shell = blocks.filter(({ language }) => language === 'sh');
  expect(report(shell, ({ code }) => unknownWords(code))).toEqual([]);
  const wrong = [
    'npm run nothing',
    'svc transcribe a.wav --loud',
    'npm run -s admin -- nodes',
    'npx @svc-asr/telephony --loud',
    'npm run prove -- nothing',
    'bash deploy/nothing',
  ];
  expect(wrong.map((line) => unknownWords(line).length)).toEqual([1, 1, 1, 1, 1, 1]);
});

test('every command that a sentence names exists', () => {
  const command = /`((?:npm run|npx|svc|svc-admin|svc-emulator|node|bash) [^`\n]+)`/g;
  const problems = pages().flatMap((page) => {
    const prose = readPage(page).replaceAll(/^( *)```.*?^\1```$/gms, '');
    return [...prose.matchAll(command)].flatMap(([, words = '']) =>
      unknownWords(words)
        // A sentence may name a group of commands.
        .filter((problem) => !problem.endsWith('needs a command'))
        .map((problem) => `${page}: ${problem}`),
    );
  });
  expect(problems).toEqual([]);
});

test('every JSON block parses, and every message is one that the schemas allow and the service sent', () => {
  const json = blocks.filter(({ language }) => ['json', 'text', ''].includes(language));
  expect(report(json, jsonProblems)).toEqual([]);
  const wrong = [
    broken('json', '{"type":"config","endpointing":{"silence_ms":10}}'),
    broken('', '< {"type":"delta","words":[],…}'),
    broken('', '< {"type":"delta","text":"wĩ mwega","stable_chars":9,…}'),
    broken('json', '{"type"}'),
  ];
  expect(wrong.map((block) => jsonProblems(block).length)).toEqual([1, 1, 1, 1]);
});

test('the conversation in docs/concepts/turns.md is the recorded one', () => {
  const block = blocks.find(({ page, code }) => page.endsWith('turns.md') && code.startsWith('> '));
  expect(block).toBeDefined();
  expect(differsFromConversation(block ?? broken('', ''))).toEqual([]);
  const wrong = broken('', '< {"type":"speech_started","utterance":0,"audio_ms":0}');
  expect(differsFromConversation(wrong)).toHaveLength(1);
});

test('every YAML block parses', () => {
  const yaml = blocks.filter(({ language }) => language === 'yaml');
  const problems = report(yaml, ({ code }) =>
    parseAllDocuments(code).flatMap(({ errors }) => errors.map(({ message }) => message)),
  );
  expect(problems).toEqual([]);
  expect(yaml.length).toBeGreaterThan(2);
});
