export * from './engine.ts';
export {
  createScriptedEngine,
  type ScriptedEngine,
  type ScriptedOptions,
  type StreamScript,
} from './scripted.ts';
export { loadManifests, ManifestError, type ModelFile, type ModelManifest } from './manifest.ts';
