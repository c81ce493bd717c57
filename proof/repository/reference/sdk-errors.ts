import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_ERRORS, STREAM_ERRORS } from '@svc-asr/protocol';

interface Advice {
  readonly happened: string;
  readonly todo: string;
}

/** What each code of the SDKs means. The codes come from the source: a missing or superfluous row is an error. */
const CLIENT: Readonly<Record<string, Advice>> = {
  missing_base_url: {
    happened: 'No address was given.',
    todo: 'Set `SVC_BASE_URL`, or pass it.',
  },
  invalid_base_url: {
    happened: 'The address is not a URL.',
    todo: 'Pass an address like `https://asr.example.org`, without `/v1`.',
  },
  insecure_base_url: {
    happened: 'Plain http would expose the API key.',
    todo: 'Use https. Only in a closed test network, allow it.',
  },
  missing_api_key: { happened: 'No API key was given.', todo: 'Set `SVC_API_KEY`, or pass it.' },
  invalid_api_key: {
    happened: 'The key does not start with `svc_live_v1_`, or the service refused it.',
    todo: 'Copy the whole key.',
  },
  key_in_browser: {
    happened: '`SvcClient` was created in a browser.',
    todo: 'Create sessions on your server, and pass their JSON to the page.',
  },
  invalid_ca: { happened: 'The `ca` file cannot be read.', todo: 'Pass a PEM file.' },
  untrusted_certificate: {
    happened: "The service's certificate is not trusted. Never retried.",
    todo: 'Check the address. For a private authority set `NODE_EXTRA_CA_CERTS`, or pass `ca` in Python.',
  },
  connection_failed: {
    happened: 'The service could not be reached.',
    todo: 'Check the address and the network. The SDKs have already retried.',
  },
  timeout: {
    happened: 'An attempt got no answer in time.',
    todo: 'Check the network. The SDKs have already retried.',
  },
  aborted: {
    happened: 'The caller aborted, or the event loop ended.',
    todo: 'Nothing, if you meant to.',
  },
  unexpected_answer: {
    happened: 'The response is not from the service, or your session server sent something else.',
    todo: 'Check the address, and that your server returns the session unchanged.',
  },
  session_server_failed: {
    happened: 'Your own session server failed. `errorResponse` sends this for unknown errors.',
    todo: 'Read its log.',
  },
};

const STREAM: Readonly<Record<string, Advice>> = {
  missing_session: {
    happened: 'Neither a session nor a function that gets one was passed.',
    todo: 'Pass one of them.',
  },
  invalid_session: {
    happened: 'What was passed or returned is not a session.',
    todo: 'Return the JSON of `POST /v1/asr/sessions` unchanged.',
  },
  session_over: {
    happened: 'The only session has ended, and there is no function to get another.',
    todo: 'Pass `getSession` (`get_session`) instead of one session.',
  },
  get_session_failed: {
    happened: 'Your `getSession` threw an error. It is in `cause`.',
    todo: 'Fix it. Errors of the SDK pass through with their own code.',
  },
  get_session_timeout: {
    happened: 'Your `getSession` took longer than 120 s.',
    todo: 'Let it fail earlier.',
  },
  invalid_audio: {
    happened: 'Something else than 16 kHz mono 16-bit PCM was written.',
    todo: 'Convert it first, in JavaScript with `AudioConverter`.',
  },
  queue_full: {
    happened: 'Five minutes of audio wait to be sent, so this chunk was refused.',
    todo: 'Await `write()` before the next one.',
  },
  finish_timeout: {
    happened: 'For 10 s the service neither answered nor took audio.',
    todo: 'Keep the finals you have, and try again with the rest.',
  },
  stream_closed: {
    happened: 'The stream has ended.',
    todo: 'Read why in `closed` (`wait_closed()`), then open a new one.',
  },
  never_opened: {
    happened: 'The stream ended before it had a session.',
    todo: 'Nothing was charged. Open a new one.',
  },
  connection_lost: {
    happened: 'The connection broke without a reason.',
    todo: 'With `getSession` the stream resumes by itself.',
  },
  connection_refused: {
    happened: 'The socket never opened. Browsers hide why.',
    todo: 'Open the address in the browser to see the cause, often a certificate.',
  },
  connection_stalled: {
    happened: 'The service has stopped answering. Comes with `reconnecting`.',
    todo: 'Wait: the stream recovers or moves to a new session after 12 s.',
  },
  protocol_error: {
    happened: 'The server, or something between, violated the WebSocket protocol.',
    todo: 'Look for a proxy that changes traffic.',
  },
  connecting: {
    happened: 'There is no session yet. Outage reports of the Python package use it.',
    todo: 'Wait.',
  },
  endpointing_unsupported: {
    happened: 'The server is too old for endpointing.',
    todo: 'Upgrade it, or flush yourself.',
  },
  invalid_language: {
    happened: 'The language is not one of the service.',
    todo: 'Use `ki` or `luo`.',
  },
};

const AUDIO: Readonly<Record<string, Advice>> = {
  missing_ffmpeg: { happened: 'ffmpeg could not be started.', todo: 'Install it.' },
  unreadable_audio: { happened: 'ffmpeg found no audio.', todo: 'Check the file.' },
  unsupported_audio: {
    happened: '`relay` got something else than OGG or WebM.',
    todo: 'Convert it, or decode it yourself.',
  },
  audio_too_large: {
    happened: 'The input has more bytes than `bytesMax`.',
    todo: 'Raise it if you expect that.',
  },
  audio_too_long: {
    happened: 'The audio is longer than `durationMsMax`.',
    todo: 'Raise it if you expect that.',
  },
  insecure_page: {
    happened: 'Browsers allow the microphone only on HTTPS or localhost.',
    todo: 'Serve the page over HTTPS.',
  },
  microphone_denied: {
    happened: 'The user or a policy denied the microphone.',
    todo: 'Ask the user to allow it.',
  },
  microphone_missing: { happened: 'There is no microphone.', todo: 'Ask the user to connect one.' },
  microphone_busy: {
    happened: 'Another program uses the microphone.',
    todo: 'Ask the user to close it.',
  },
  microphone_failed: {
    happened: 'The microphone could not be opened.',
    todo: 'Let the user choose another one.',
  },
  audio_not_started: {
    happened: 'The browser did not start its audio.',
    todo: 'Open the microphone from a click handler.',
  },
};

const GROUPS = {
  'The client and HTTP': CLIENT,
  Streams: STREAM,
  'Audio and the microphone': AUDIO,
} as const;

/** Words that look like codes in the source but are not errors of their own. */
const NOT_ERRORS = new Set(['completed', 'flush']);

/** Returns docs/reference/sdk-errors.md. */
export function sdkErrorsPage(root: string): string {
  const found = { TypeScript: typescriptCodes(root), Python: pythonCodes(root) };
  checkComplete(new Set([...found.TypeScript, ...found.Python]));
  const sections = Object.entries(GROUPS).flatMap(([title, group]) => [
    `## ${title}`,
    '',
    '| code | SDK | what happened | what to do |',
    '|---|---|---|---|',
    ...Object.entries(group).map(([code, { happened, todo }]) => {
      const sdks = Object.entries(found).filter(([, codes]) => codes.has(code));
      return `| \`${code}\` | ${sdks.map(([name]) => name).join(', ')} | ${happened} | ${todo} |`;
    }),
    '',
  ]);
  return [...INTRODUCTION, '', ...sections].join('\n');
}

const INTRODUCTION = [
  '# SDK errors',
  '',
  'Every failure is a `SvcError`. Its `code` is one of the [service](../errors.md), or one of these, which the SDKs add. New codes may be',
  'added, so decide by `retryable`. `http_502` and the like are responses of something between you and the service, such as a proxy.',
  '`npm run docs` writes this page from the source of the SDKs.',
];

function checkComplete(found: ReadonlySet<string>): void {
  const described = new Set(Object.values(GROUPS).flatMap((group) => Object.keys(group)));
  const missing = [...found].filter((code) => !described.has(code) && !NOT_ERRORS.has(code));
  const superfluous = [...described].filter((code) => !found.has(code));
  if (missing.length + superfluous.length === 0) return;
  throw new Error(
    `proof/repository/reference/sdk-errors.ts: describe ${missing.join(', ') || 'nothing'}; remove ${superfluous.join(', ') || 'nothing'}.`,
  );
}

const TYPESCRIPT_CODE =
  /\b(?:failure|misuse|problem|microphoneError|closed)\(\s*(?:\d+,\s*)?'([a-z_]+)'|\b(?:code|reason)(?::|\s=)\s(?:\w+\s\?\s)?'([a-z_]+)'(?:\s:\s'([a-z_]+)')?/g;
const TYPESCRIPT_TABLE = /^ {2}([a-z_]+): \[$/gm;
const PYTHON_CODE = /(?:SvcError|CloseInfo)\(\s*(?:\d+,\s*)?"([a-z_]+)"/g;
const PYTHON_REASON = /unexplained = "([a-z_]+)" if opened else "([a-z_]+)"/g;

function typescriptCodes(root: string): ReadonlySet<string> {
  const text = sources(join(root, 'clients/sdk/src'), '.ts');
  return ownCodes([...text.matchAll(TYPESCRIPT_CODE), ...text.matchAll(TYPESCRIPT_TABLE)]);
}

function pythonCodes(root: string): ReadonlySet<string> {
  const text = sources(join(root, 'clients/sdk-python/src'), '.py');
  return ownCodes([...text.matchAll(PYTHON_CODE), ...text.matchAll(PYTHON_REASON)]);
}

/** A code of the service counts only where an SDK also uses it for something of its own. */
function ownCodes(matches: readonly RegExpMatchArray[]): ReadonlySet<string> {
  const codes = matches.flatMap(([, ...groups]) => groups.filter((code) => code !== undefined));
  const shared = new Set(['missing_api_key', 'invalid_api_key', 'protocol_error']);
  return new Set(
    codes.filter(
      (code) =>
        shared.has(code) ||
        !(Object.hasOwn(API_ERRORS, code) || Object.hasOwn(STREAM_ERRORS, code)),
    ),
  );
}

function sources(folder: string, ending: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .toSorted()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
}
