import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { broken, checkedBlocks, pages, readPage, type Block } from './blocks.ts';
import { httpProblems } from './http-blocks.ts';
import { htmlProblems } from './markup-blocks.ts';
import { syntaxError, unknownWords } from './shell-blocks.ts';
import { isTypeScript, typescriptErrors } from './typescript-blocks.ts';
import { differsFromConversation, jsonProblems } from './wire-messages.ts';

/**
 * Languages whose blocks are checked here, and `python` and `xml` in code-blocks.python.test.ts. SQL isn't among them: what
 * operators do has a command.
 */
const CHECKED = new Set([
  'ts',
  'tsx',
  'python',
  'sh',
  'json',
  'yaml',
  'html',
  'xml',
  'http',
  'text',
  '',
]);

const blocks = checkedBlocks();

function report(own: readonly Block[], problemsOf: (block: Block) => readonly string[]): string[] {
  return own.flatMap((block) => problemsOf(block).map((problem) => `${block.where}: ${problem}`));
}

function inLanguage(name: string): Block[] {
  const own = blocks.filter(({ language }) => language === name);
  expect(own.length, name).toBeGreaterThan(0);
  return own;
}

test('every code block names a language that is checked', () => {
  const others = blocks.filter(({ language }) => !CHECKED.has(language));
  expect(others.map(({ where, language }) => `${where}: ${language}`)).toEqual([]);
  expect(blocks.length).toBeGreaterThan(150);
});

test('every TypeScript block compiles with the packages of the workspace and the library of the oldest Node', async () => {
  const wrong = broken('ts', "import { openStreams } from '@svc-asr/sdk/stream';\n");
  const errors = await typescriptErrors([...blocks.filter(isTypeScript), wrong]);
  expect(errors.filter((error) => !error.startsWith('broken.md'))).toEqual([]);
  expect(errors.filter((error) => error.startsWith('broken.md'))).toHaveLength(1);
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

test('every HTML block is a document without parse errors', () => {
  expect(report(inLanguage('html'), ({ code }) => htmlProblems(code))).toEqual([]);
  expect(htmlProblems('<!doctype html><title>A</title><p id="a" id="b">')).toHaveLength(1);
  expect(htmlProblems('<button>Start</button>')).toHaveLength(1);
});

test('every HTTP block is a request or a response that the OpenAPI document describes', () => {
  expect(report(inLanguage('http'), ({ code }) => httpProblems(code))).toEqual([]);
  const wrong = [
    'GET /v1/asr/streams HTTP/1.1\nHost: a',
    'GET /v1/asr/stream HTTP/1.1\nHost: a\nUpgrade websocket',
    'HTTP/1.1 101 Switching\nUpgrade: websocket',
    'HTTP/1.1 204 No Content',
  ];
  expect(wrong.map((code) => httpProblems(code).length)).toEqual([1, 1, 1, 1]);
});
