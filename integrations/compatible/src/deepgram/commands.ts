import { parseObject } from '@svc-asr/protocol/json-object.ts';

/** Reads the text messages of a Deepgram client. */

export type Command =
  | { readonly type: 'KeepAlive' | 'Finalize' | 'CloseStream' }
  | { readonly type: 'Configure'; readonly wantsKeyterms: boolean }
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
      return { type: 'Configure', wantsKeyterms: Array.isArray(keyterms) && keyterms.length > 0 };
    }
    default:
      return { type: 'invalid' };
  }
}
