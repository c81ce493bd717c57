import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Launch the service with this, so that its counters can be read. */
export const MEASURED = { METRICS_TOKEN: 'campaign' } as const;

/** The sum over all labels, or the value of one series when the name has its labels. */
export async function metric(service: ServiceProcess, name: string): Promise<number> {
  const headers = { authorization: `Bearer ${MEASURED.METRICS_TOKEN}` };
  const text = await (await fetch(`${service.url}/metrics`, { headers })).text();
  const lines = text.split('\n').filter((line) => line.startsWith(name) && !line.startsWith('#'));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
