import type { IncomingHttpHeaders } from 'node:http';
import { clientName } from '../../platform/network/client-name.ts';

/** Where a stream came from, as its own headers say. */
export interface ClientDescription {
  readonly origin: string | null;
  readonly client: string | null;
}

const ORIGIN = /^[!-~]{1,200}$/;

export function describeClient(headers: IncomingHttpHeaders): ClientDescription {
  const { origin, 'user-agent': agent } = headers;
  return {
    origin: origin !== undefined && ORIGIN.test(origin) ? origin : null,
    client: clientName(agent),
  };
}
