#!/usr/bin/env node
import { resolve } from 'node:path';
import { askOnTerminal } from './confirm.ts';
import { runAdmin } from './program.ts';

process.exitCode = await runAdmin(process.argv.slice(2), {
  env: process.env,
  devFolder: resolve(import.meta.dirname, '../../../../.dev'),
  ask: askOnTerminal(),
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
});
