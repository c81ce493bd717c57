export * from './engine.ts';
export {
  createScriptedEngine,
  type ScriptedEngine,
  type ScriptedOptions,
  type StreamScript,
} from './scripted.ts';
