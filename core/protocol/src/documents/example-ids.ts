import { CREDENTIAL_PREFIX, STREAM_PATH, SUBPROTOCOL } from '../constants.ts';

/** What recorded examples contain in place of ids, times and secrets. The credential is not real. */

export const EXAMPLE_REQUEST_ID = '6f0d9c8b-2f44-4be1-8c8f-0f6a0e6a7a20';
export const EXAMPLE_SESSION_ID = '0b9f3c1e-5d0a-4c55-9a3e-7f2f8d0c6a11';
export const EXAMPLE_STREAM_URL = `wss://node-1.example.com${STREAM_PATH}`;
const EXAMPLE_CREDENTIAL = `${CREDENTIAL_PREFIX}example-of-a-credential`;
export const EXAMPLE_PROTOCOLS: [typeof SUBPROTOCOL, string] = [SUBPROTOCOL, EXAMPLE_CREDENTIAL];
export const EXAMPLE_EXPIRY = '2026-11-15T09:31:00.000Z';
