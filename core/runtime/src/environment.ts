export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads variables of an environment and collects the problems with them. Every method returns a usable value, so that
 * one pass finds all problems.
 */
export class EnvironmentReader {
  readonly env: Environment;
  readonly problems: string[] = [];

  constructor(env: Environment) {
    this.env = env;
  }

  text(name: string, fallback: string): string {
    return this.env[name] || fallback;
  }

  integer(name: string, rule: { fallback: number; min: number; max: number }): number {
    const value = Number(this.env[name] || rule.fallback);
    if (Number.isInteger(value) && value >= rule.min && value <= rule.max) return value;
    this.problems.push(`${name} must be a whole number from ${rule.min} to ${rule.max}`);
    return rule.fallback;
  }

  optionalInteger(name: string, rule: { min: number; max: number }): number | null {
    return this.env[name] ? this.integer(name, { ...rule, fallback: rule.min }) : null;
  }

  flag(name: string): boolean {
    const value = this.env[name] || '0';
    if (value !== '0' && value !== '1') this.problems.push(`${name} must be 0 or 1`);
    return value === '1';
  }

  oneOf<T extends string>(name: string, values: readonly T[], fallback: T): T {
    const value = this.env[name] || fallback;
    const found = values.find((candidate) => candidate === value);
    if (found === undefined) this.problems.push(`${name} must be one of ${values.join(', ')}`);
    return found ?? fallback;
  }

  url(name: string, protocols: readonly string[], fallback = ''): string {
    const value = this.env[name] || fallback;
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
      this.problems.push(`${name} must be a URL that begins with ${protocols.join('// or ')}//`);
    }
    return value;
  }

  optionalUrl(name: string, protocols: readonly string[]): string | null {
    return this.env[name] ? this.url(name, protocols) : null;
  }
}
