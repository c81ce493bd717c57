#!/usr/bin/env node
import { createInterface } from 'node:readline/promises';
import { Problem } from './problem.ts';
import { run } from './program.ts';
import type { Terminal } from './terminal.ts';

const { stdin, stdout, stderr } = process;

const terminal: Terminal = {
  say: (line) => void stdout.write(`${line}\n`),
  show: (line) => {
    if (stderr.isTTY) stderr.write(`\r\u001B[K${line}`);
  },
  ask: stdin.isTTY ? ask : null,
};

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: stdout });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}

process.exitCode = await run(process.argv.slice(2), terminal).catch((error: unknown) => {
  stderr.write(`${error instanceof Problem ? error.message : String(error)}\n`);
  return error instanceof Problem ? 1 : 2;
});
