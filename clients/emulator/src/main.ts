#!/usr/bin/env node
import { runEmulator } from './program.ts';

process.exitCode = await runEmulator(process.argv.slice(2));
// After a failed start some parts may still be running. PostgreSQL ends with the process.
if (process.exitCode === 2) process.exit();
