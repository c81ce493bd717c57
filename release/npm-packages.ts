import { writeBundle } from '../cli/scripts/bundle.ts';
import { writeModules } from '../emulator/scripts/modules.ts';
import { wireTypes } from '../sdk/scripts/wire-types.ts';
import { writeCompiled } from './compiled-modules.ts';

interface NpmPackage {
  /** Its folder in this repository. */
  readonly folder: string;
  /** Writes the modules into the folder to publish. Returns fields that the published manifest has instead of the package's own. */
  readonly write: (out: string) => Promise<Readonly<Record<string, unknown>>>;
}

/** The packages that a release publishes to npm. All others are private. */
export const NPM_PACKAGES = {
  '@svc-asr/sdk': {
    folder: 'sdk',
    write: (out) => writeCompiled('sdk', out, { wireTypes: wireTypes() }),
  },
  '@svc-asr/cli': { folder: 'cli', write: writeBundle },
  '@svc-asr/emulator': { folder: 'emulator', write: writeModules },
  '@svc-asr/compatible': {
    folder: 'integrations/compatible',
    write: (out) => writeCompiled('integrations/compatible', out),
  },
  '@svc-asr/livekit': {
    folder: 'integrations/livekit',
    write: (out) => writeCompiled('integrations/livekit', out),
  },
  '@svc-asr/telephony': {
    folder: 'integrations/telephony',
    write: (out) => writeCompiled('integrations/telephony', out),
  },
} as const satisfies Record<string, NpmPackage>;

export type NpmPackageName = keyof typeof NPM_PACKAGES;

export function isNpmPackage(name: string): name is NpmPackageName {
  return name in NPM_PACKAGES;
}
