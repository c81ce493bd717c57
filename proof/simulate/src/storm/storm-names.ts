export const STORM_NAMES = [
  'third',
  'zone',
  'database',
  'api',
  'deploy',
  'partition',
  'engine',
  'hot',
  'full',
  'rate',
  'clocks',
] as const;

export type StormName = (typeof STORM_NAMES)[number];

export function isStormName(name: string): name is StormName {
  return STORM_NAMES.some((known) => known === name);
}
