import { writeBundle } from '../clients/cli/scripts/bundle.ts';
import { writeModules } from '../clients/emulator/scripts/modules.ts';
import { wireTypes } from '../clients/sdk/scripts/wire-types.ts';
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
    folder: 'clients/sdk',
    write: (out) => writeCompiled('clients/sdk', out, { wireTypes: wireTypes() }),
  },
  '@svc-asr/cli': { folder: 'clients/cli', write: writeBundle },
  '@svc-asr/emulator': { folder: 'clients/emulator', write: writeModules },
  '@svc-asr/compatible': {
    folder: 'clients/integrations/compatible',
    write: (out) => writeCompiled('clients/integrations/compatible', out),
  },
  '@svc-asr/livekit': {
    folder: 'clients/integrations/livekit',
    write: (out) => writeCompiled('clients/integrations/livekit', out),
  },
  '@svc-asr/telephony': {
    folder: 'clients/integrations/telephony',
    write: (out) => writeCompiled('clients/integrations/telephony', out),
  },
} as const satisfies Record<string, NpmPackage>;

export type NpmPackageName = keyof typeof NPM_PACKAGES;

export function isNpmPackage(name: string): name is NpmPackageName {
  return name in NPM_PACKAGES;
}
