#!/usr/bin/env node
import { resolve } from 'node:path';
import { runAdmin } from './program.ts';

process.exitCode = await runAdmin(process.argv.slice(2), {
  env: process.env,
  devFolder: resolve(import.meta.dirname, '../../../.dev'),
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
});
