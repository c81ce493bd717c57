import { readFile } from 'node:fs/promises';

const FOLDER = new URL('../../../deploy/monitoring/', import.meta.url);
const RULE_FILES = ['recording.yaml', 'alerts.yaml'] as const;

/** The bundled rules. */
export async function readRules(): Promise<Record<string, string>> {
  const files = await Promise.all(
    RULE_FILES.map(async (name) => [
      name,
      await readFile(new URL(`rules/${name}`, FOLDER), 'utf8'),
    ]),
  );
  return Object.fromEntries(files);
}

/** Minutes become seconds. The order of the windows stays. */
const SHORT_WINDOWS: Readonly<Record<string, string>> = {
  '1m': '3s',
  '2m': '3s',
  '5m': '3s',
  '10m': '8s',
  '30m': '4s',
  '1h': '5s',
  '6h': '6s',
  '3d': '8s',
};

/** Returns the rules with windows of seconds, so that alerts fire and resolve during a test. Nothing else changes. */
export function shortenWindows(rules: string): string {
  return rules
    .replaceAll(/\[(\d+[mhd])\]/g, (_, window: string) => {
      const short = SHORT_WINDOWS[window];
      if (short === undefined) throw new Error(`No short form of the window ${window}.`);
      return `[${short}]`;
    })
    .replaceAll(/^( +for:) \d+[mh]$/gm, '$1 1s');
}

/** A configuration that scrapes these targets every half second, evaluates as often, and notifies `alertmanager`. */
export function shortConfiguration(
  jobs: Readonly<Record<string, { readonly target: string; readonly token?: string }>>,
  alertmanager?: string,
): string {
  const scrapes = Object.entries(jobs).map(([job_name, { target, token }]) => ({
    job_name,
    ...(token === undefined ? {} : { authorization: { credentials: token } }),
    static_configs: [{ targets: [target] }],
  }));
  // JSON is YAML.
  return JSON.stringify({
    global: { scrape_interval: '500ms', scrape_timeout: '400ms', evaluation_interval: '500ms' },
    rule_files: RULE_FILES,
    scrape_configs: scrapes,
    ...(alertmanager === undefined
      ? {}
      : { alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] } }),
  });
}
