import { ENGINE_MUTANTS } from './engine-mutants.ts';
import { GATEWAY_MUTANTS } from './gateway-mutants.ts';
import { LEDGER_MUTANTS } from './ledger-mutants.ts';
import type { Mutant } from './mutant.ts';
import { SDK_MUTANTS } from './sdk-mutants.ts';
import { SQL_MUTANTS } from './sql-mutants.ts';
import { STREAM_MUTANTS } from './stream-mutants.ts';

export const MUTANTS: readonly Mutant[] = [
  ...LEDGER_MUTANTS,
  ...SQL_MUTANTS,
  ...GATEWAY_MUTANTS,
  ...STREAM_MUTANTS,
  ...ENGINE_MUTANTS,
  ...SDK_MUTANTS,
];

export function findMutant(name: string): Mutant {
  const found = MUTANTS.find((mutant) => mutant.name === name);
  if (found !== undefined) return found;
  throw new RangeError(`There is no mutant ${name}. Choose one of: ${names().join(', ')}`);
}

function names(): string[] {
  return MUTANTS.map(({ name }) => name);
}
