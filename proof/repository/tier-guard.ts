import childProcess, { ChildProcess } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { needOf } from './tier-programs.ts';
import { NEEDS } from './tiers.ts';

/**
 * Runs before each test file. From then on, starting a program that the file's tier doesn't have is an error, also on
 * machines that have it.
 */
const GUARDED = Symbol.for('svc-asr.tier-guard');

function check(program: unknown): void {
  const tier = process.env['TEST_TIER'] ?? '';
  const need = typeof program === 'string' ? needOf(program) : null;
  if (need === null || NEEDS[tier]?.includes(need) === true) return;
  throw new Error(
    `A test of the ${tier} tier can't start ${String(program)}: not every machine that runs the tier has it. ` +
      `Move the test to a file that ends in .${need}.test.ts. See proof/repository/tiers.ts.`,
  );
}

function guard(owner: object, method: string, programOf: (first: unknown) => unknown): void {
  const original: unknown = Reflect.get(owner, method);
  if (typeof original !== 'function') throw new Error(`${method} is not a function.`);
  Reflect.set(owner, method, function guarded(this: unknown, ...args: unknown[]): unknown {
    check(programOf(args[0]));
    return Reflect.apply(original, this, args);
  });
}

// Files that share a worker share its modules.
if (!Reflect.has(globalThis, GUARDED)) {
  Reflect.set(globalThis, GUARDED, true);
  // Every function that starts a process without waiting for it calls this one.
  guard(ChildProcess.prototype, 'spawn', (options) => Object(options).file);
  for (const name of ['spawnSync', 'execFileSync']) guard(childProcess, name, (file) => file);
  syncBuiltinESMExports();
}
