#!/usr/bin/env node
import { runCli } from './program.ts';

// A reader such as `head` may close the pipe early. That is not an error.
process.stdout.on('error', () => process.exit(0));
process.exitCode = await runCli(process.argv.slice(2));
