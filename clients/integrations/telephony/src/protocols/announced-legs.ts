import { findLanguage } from '@svc-asr/protocol/languages.ts';
import type { CallStart } from '../call-context.ts';
import type { FormAnswer } from '../forms.ts';
import { callId, legName, parametersOf } from '../parameters.ts';

export interface AnnouncedLeg extends CallStart {
  readonly leg: string;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The dialplan connects right after it has announced the leg. */
const KEPT_MS = 60_000;
const LEGS_MAX = 1_000;

/** AudioSocket names a connection by a UUID only. The dialplan posts the call, the leg and the language before. */
export class AnnouncedLegs {
  readonly #legs = new Map<string, { readonly leg: AnnouncedLeg; readonly atMs: number }>();

  /** A form with `uuid`, and `call`, `leg`, `language` and parameters of your own. */
  announce(form: URLSearchParams): FormAnswer {
    const uuid = form.get('uuid')?.toLowerCase() ?? '';
    if (!UUID.test(uuid))
      return { status: 400, text: 'Send uuid, as in 3f1c9a5e-6b0d-4a55-9d8e-2f4b7c1a9e01.' };
    const language = form.get('language') || null;
    if (language !== null && findLanguage(language) === null) {
      return { status: 400, text: 'Unsupported language. Use ki (Kikuyu) or luo (Dholuo).' };
    }
    this.#forgetOld();
    if (this.#legs.size >= LEGS_MAX) return { status: 503, text: 'Too many legs are announced.' };
    const { uuid: _, ...parameters } = parametersOf(Object.fromEntries(form));
    const call = callId('audiosocket', form.get('call'), uuid);
    const leg = { call, leg: legName(form.get('leg')), language, parameters };
    // The oldest comes first, also if a leg is announced again.
    this.#legs.delete(uuid);
    this.#legs.set(uuid, { leg, atMs: performance.now() });
    return { status: 204 };
  }

  /** Null if nobody has announced the UUID. */
  take(uuid: string): AnnouncedLeg | null {
    this.#forgetOld();
    const leg = this.#legs.get(uuid)?.leg ?? null;
    this.#legs.delete(uuid);
    return leg;
  }

  #forgetOld(): void {
    for (const [uuid, { atMs }] of this.#legs) {
      if (performance.now() - atMs < KEPT_MS) return;
      this.#legs.delete(uuid);
    }
  }
}
