/**
 * The part of the engine without recognisers: its contract, the scripted engine, voice activity, replay and
 * settings. It needs neither ONNX Runtime nor gRPC, so the emulator's package has neither.
 */
export * from './engine.ts';
export { CallQueue, type HeldCall } from './call-queue.ts';
export {
  VoiceActivity,
  type FrameVerdict,
  type SpeechDetector,
} from './voice-activity/voice-activity.ts';
export { HOP_SAMPLES, type VoiceVerdicts } from './voice-activity/confirmation.ts';
export type { VoiceConfirmer, VoiceListener } from './voice-activity/confirmer.ts';
export {
  createScriptedEngine,
  GREETINGS,
  type ScriptedEngine,
  type ScriptedOptions,
  type StreamScript,
} from './scripted/scripted.ts';
export { withReplay, type ReplayEngine, type ReplayOptions } from './replay/with-replay.ts';
export { DEVICES, THREADS_PER_CHILD_MAX, type Device } from './compute.ts';
