export * from './engine.ts';
export {
  createScriptedEngine,
  type ScriptedEngine,
  type ScriptedOptions,
  type StreamScript,
} from './scripted.ts';
export { loadManifests, ManifestError, type ModelFile, type ModelManifest } from './manifest.ts';
export {
  startSherpaEngine,
  type PoolNotice,
  type SherpaEngine,
  type SherpaOptions,
} from './sherpa/pool.ts';
