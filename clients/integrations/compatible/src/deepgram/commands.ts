import { parseObject } from '@svc-asr/protocol/json-object.ts';

/** Reads the text messages of a Deepgram client. */

export type Command =
  | { readonly type: 'KeepAlive' | 'Finalize' | 'CloseStream' }
  | { readonly type: 'Configure'; readonly keyterms: readonly string[] | null }
  | { readonly type: 'invalid' };

export function readCommand(text: string): Command {
  const message = parseObject(text);
  switch (message['type']) {
    case 'KeepAlive':
    case 'Finalize':
    case 'CloseStream':
      return { type: message['type'] };
    case 'Configure': {
      const { keyterms } = message;
      // The service says which it can't use. Anything but text would be a mistake of the client's.
      const isList = Array.isArray(keyterms) && keyterms.every((term) => typeof term === 'string');
      return { type: 'Configure', keyterms: isList ? keyterms : null };
    }
    default:
      return { type: 'invalid' };
  }
}
