import { Problem } from './problem.ts';

/** Checks the name of an imported model, which is also the name of its folder. */
export function modelName(name: string): string {
  if (/^[a-z0-9][a-z0-9.-]{0,63}$/.test(name)) return name;
  throw new Problem('--name may have lower-case letters, digits, dots and hyphens.');
}
