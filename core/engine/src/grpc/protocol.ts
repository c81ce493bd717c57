/** Messages of Riva's recognition protocol that our client and server use, with field names in camel case. */
interface RecognitionConfig {
  readonly encoding?: string;
  readonly sampleRateHertz?: number;
  readonly languageCode?: string;
  readonly audioChannelCount?: number;
  readonly maxAlternatives?: number;
  readonly enableWordTimeOffsets?: boolean;
  readonly model?: string;
  /** Keyterms. We decide the boost. */
  readonly speechContexts?: readonly { readonly phrases?: readonly string[] }[];
}

export interface StreamingRecognizeRequest {
  readonly streamingConfig?: {
    readonly config?: RecognitionConfig;
    readonly interimResults?: boolean;
  };
  readonly audioContent?: Uint8Array;
  /** The whole message by encodeAudio, in place of the other fields. */
  readonly encoded?: Buffer;
}

export interface WordInfo {
  readonly startTime?: number;
  readonly endTime?: number;
  readonly word?: string;
  /** 0: the server does not say. */
  readonly confidence?: number;
}

export interface StreamingRecognitionResult {
  readonly alternatives?: readonly { readonly transcript?: string; readonly words?: WordInfo[] }[];
  readonly isFinal?: boolean;
  readonly stability?: number;
  readonly audioProcessed?: number;
}

export interface StreamingRecognizeResponse {
  readonly results?: readonly StreamingRecognitionResult[];
}

export interface ModelConfigResponse {
  readonly modelConfig?: readonly {
    readonly modelName?: string;
    readonly parameters?: Readonly<Record<string, string>>;
  }[];
}

export interface HealthResponse {
  readonly status?: 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN' | 'UNKNOWN';
}

/** Asks for a slot, or releases one. */
export interface SlotRequest {
  readonly release?: boolean;
}

export interface SlotResponse {
  readonly granted?: boolean;
}

export const RECOGNITION_SERVICE = 'nvidia.riva.asr.RivaSpeechRecognition';
export const HEALTH_SERVICE = 'grpc.health.v1.Health';
export const SLOTS_SERVICE = 'svc.engine.v1.EngineSlots';

/** Our own metadata keys. Other servers and clients ignore them safely. */
export const METADATA = {
  /** Request: the weights that must recognise this call. */
  build: 'svc-build',
  /** Request: this much of the audio is overdue, because a lost recogniser already received it. */
  replayBytes: 'svc-replay-bytes',
  /** Request: send an empty response for every ACKNOWLEDGE_EVERY messages of audio that the recogniser took. */
  acknowledge: 'svc-acknowledge',
  /** Request: the span that this call is a part of, as the W3C writes it. */
  traceparent: 'traceparent',
  /** Response of Hold: the name of the holder. Request: the call uses a slot of this holder. */
  holder: 'svc-holder',
  /** Response to a heartbeat that names a holder: the slots of this holder. */
  held: 'svc-held',
  /** Response: `active/capacity/lagMs` of the node. A slot is active while a stream holds it. */
  load: 'svc-load',
  /** Trailer of RESOURCE_EXHAUSTED. */
  retryAfterMs: 'retry-after-ms',
} as const;

/** A gateway sends at most this many unacknowledged audio messages. */
export const ACKNOWLEDGE_EVERY = 2;

/** The subject alternative name that a certificate must have for each role. */
export const ROLE_NAME = { engine: 'engine.svc-asr.internal', gateway: 'gateway.svc-asr.internal' };
