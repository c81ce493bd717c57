import { parseObject } from '@svc-asr/protocol/json-object.ts';

/** Reads the text messages of a Deepgram client. */

export type Command =
  | { readonly type: 'KeepAlive' | 'Finalize' | 'ForceEndTurn' | 'CloseStream' }
  | {
      readonly type: 'Configure';
      readonly keyterms: readonly string[] | null;
      /** It has settings that can't change. */
      readonly isFixed: boolean;
    }
  | { readonly type: 'invalid' };

/** Settings of `/v2/listen` that hold for the whole stream. */
const FIXED = ['thresholds', 'language_hints', 'numerals', 'profanity_filter'];

export function readCommand(text: string): Command {
  const message = parseObject(text);
  switch (message['type']) {
    case 'KeepAlive':
    case 'Finalize':
    case 'ForceEndTurn':
    case 'CloseStream':
      return { type: message['type'] };
    case 'Configure': {
      const { keyterms } = message;
      // The service says which it can't use. Anything but text would be a mistake of the client's.
      const isList = Array.isArray(keyterms) && keyterms.every((term) => typeof term === 'string');
      const isFixed = FIXED.some((name) => message[name] !== undefined);
      return { type: 'Configure', keyterms: isList ? keyterms : null, isFixed };
    }
    default:
      return { type: 'invalid' };
  }
}
