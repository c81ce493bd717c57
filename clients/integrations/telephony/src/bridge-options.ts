import type { ModelId, SvcClient } from '@svc-asr/sdk';
import { isLoopback } from '@svc-asr/runtime/server-access.ts';
import type { CallEvent, Notice } from './events.ts';

export interface BridgeOptions {
  /** With `retriesMax: 0` the bridge itself waits for sessions and reports why. */
  readonly client: SvcClient;
  /** For calls that name no language. */
  readonly model: ModelId;
  /** Default 127.0.0.1. Other addresses need a token. */
  readonly host?: string;
  /** For Twilio, FreeSWITCH and jambonz. Default, and 0: any free port. */
  readonly port?: number;
  /** For Asterisk. Null: off, which is the default. 0: any free port. */
  readonly audioSocket?: AudioSocketOptions | null;
  /** Takes addresses of recordings at `/recordings`. Null: off, which is the default. */
  readonly recordings?: RecordingOptions | null;
  /** WebSockets must carry it: the last part of the path, or `Authorization: Bearer`. Null: no check. */
  readonly token?: string | null;
  /** Twilio's auth token. Calls to /twilio must then have a valid X-Twilio-Signature. */
  readonly twilioAuthToken?: string | null;
  /** Such as `wss://calls.example.org`: the address in the TwiML, for signatures behind a proxy. */
  readonly publicUrl?: string | null;
  /** `/metrics` needs `Authorization: Bearer` with it. Null: no metrics. */
  readonly metricsToken?: string | null;
  /** How much silence ends an utterance. Default 700. */
  readonly silenceMs?: number;
  /** Names and words to listen for, at most 100. */
  readonly keyterms?: readonly string[];
  /** If it throws, the event is lost, and the operator gets a notice. */
  readonly onEvent: (event: CallEvent) => void;
  /** Problems for the operator. */
  readonly onNotice?: (notice: Notice) => void;
}

/** Hosts whose recordings are fetched, as in a URL: a port other than 443 is part of it. */
export interface RecordingHosts {
  /** On the internet. */
  readonly from: readonly string[];
  /** With private addresses. */
  readonly fromPrivate: readonly string[];
}

export interface RecordingOptions extends RecordingHosts {
  /** Default: the one in PATH. */
  readonly ffmpeg?: string;
  /** Certificates to trust in place of the system's. */
  readonly ca?: Buffer;
  /** How long fetching a recording may take. Default: 5 minutes. */
  readonly fetchMs?: number;
}

export interface AudioSocketOptions {
  readonly port: number;
  /** Default 127.0.0.1. Other addresses need `allow`, because AudioSocket has no authentication. */
  readonly host?: string;
  /** Addresses and networks that may call, such as `10.0.0.5` and `10.1.0.0/16`. Empty: all. */
  readonly allow?: readonly string[];
}

/** An error in the application's code ends no call. */
export function withSafeCallbacks(options: BridgeOptions): BridgeOptions {
  const { onEvent, onNotice } = options;
  const notify = (notice: Notice): void => {
    try {
      onNotice?.(notice);
    } catch {
      // There is nobody left to tell.
    }
  };
  return {
    ...options,
    onNotice: notify,
    onEvent(event) {
      const fail = (): void => {
        const message = `An event was lost, because onEvent threw an error: ${event.type}.`;
        notify({ level: 'error', code: 'event_lost', message, call: event.call });
      };
      try {
        const done: unknown = onEvent(event);
        if (done instanceof Promise) done.catch(fail);
      } catch {
        fail();
      }
    },
  };
}

const TOKEN_LENGTH_MIN = 16;

/** Throws instead of opening an unprotected port to other machines. */
export function checkExposure(options: BridgeOptions): void {
  const { host = '127.0.0.1', token = null, audioSocket = null, recordings = null } = options;
  for (const name of [...(recordings?.from ?? []), ...(recordings?.fromPrivate ?? [])]) {
    if (urlHost(name) !== null) continue;
    throw new Error(
      `${name} is not a host of recordings. Use its name, such as voice.example.com or voice.example.com:8443.`,
    );
  }
  if (!isLoopback(host) && (token === null || token.length < TOKEN_LENGTH_MIN)) {
    throw new Error(
      `Anybody who reaches ${host} could spend your credit. Set SVC_TELEPHONY_TOKEN to at least ` +
        `${TOKEN_LENGTH_MIN} characters (openssl rand -hex 16), or listen on 127.0.0.1.`,
    );
  }
  if (audioSocket === null) return;
  const { host: audioSocketHost = '127.0.0.1', allow = [] } = audioSocket;
  if (!isLoopback(audioSocketHost) && allow.length === 0) {
    throw new Error(
      `AudioSocket has no authentication. To listen on ${audioSocketHost}, name the addresses of your ` +
        'Asterisk servers with --audiosocket-allow.',
    );
  }
}

/** A host as `URL` writes it: in lower case, and without the port of https. Null for anything else, such as a whole URL. */
export function urlHost(name: string): string | null {
  const url = URL.canParse(`https://${name}/`) ? new URL(`https://${name}/`) : null;
  return url !== null && url.href === `https://${url.host}/` ? url.host : null;
}
