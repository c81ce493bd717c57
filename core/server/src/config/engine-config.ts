import { fileURLToPath } from 'node:url';
import { DEVICES, THREADS_PER_CHILD_MAX, type Device } from '@svc-asr/engine/core.ts';
import { addressProblem, areLocal } from '@svc-asr/runtime/addresses.ts';
import type { EnvironmentReader } from '@svc-asr/runtime/environment.ts';
import { readTlsFiles, type TlsFiles } from '@svc-asr/runtime/tls-files.ts';

export interface EngineConfig {
  /** Folder with the manifests and weights of the models. */
  readonly modelsDir: string;
  /** Null: as many as the machine's cores allow. */
  readonly children: number | null;
  readonly slotsPerChild: number | null;
  readonly threadsPerChild: number;
  readonly device: Device;
  /** Addresses of the engine nodes. Null: this process has its own recognisers. */
  readonly addresses: string | null;
  /** Null: no TLS to the engine nodes. */
  readonly tls: TlsFiles | null;
  /** Streams per Riva or NIM server; null: the nodes are svc-engine and report their capacity. */
  readonly rivaCapacity: number | null;
  /** The user that recogniser processes run as. Null: the same as this process. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** Memory for audio that can be replayed when a recogniser is lost. 0: such a loss ends its streams. */
  readonly replayMb: number;
}

const MODELS_DIR = fileURLToPath(new URL('../../../models', import.meta.url));

export function readEngineConfig(read: EnvironmentReader): EngineConfig {
  return {
    modelsDir: read.text('MODELS_DIR', MODELS_DIR),
    children: read.optionalInteger('ENGINE_CHILDREN', { min: 1, max: 256 }),
    slotsPerChild: read.optionalInteger('ENGINE_SLOTS_PER_CHILD', { min: 1, max: 10_000 }),
    threadsPerChild: read.integer('ENGINE_THREADS_PER_CHILD', {
      fallback: 1,
      min: 1,
      max: THREADS_PER_CHILD_MAX,
    }),
    device: read.oneOf('ENGINE_DEVICE', DEVICES, 'cpu'),
    addresses: readAddresses(read),
    tls: readTlsFiles(read),
    rivaCapacity: read.optionalInteger('ENGINE_RIVA_CAPACITY', { min: 1, max: 100_000 }),
    user: readUser(read),
    replayMb: read.integer('ENGINE_REPLAY_MB', { fallback: 512, min: 0, max: 65_536 }),
  };
}

function readAddresses({ env, problems }: EnvironmentReader): string | null {
  const addresses = env['ENGINE_ADDRESSES'];
  if (!addresses) return null;
  const problem = addressProblem(addresses);
  if (problem !== null) problems.push(`ENGINE_ADDRESSES ${problem}`);
  const hasTls = Boolean(env['ENGINE_TLS_CERT_FILE']);
  if (!hasTls && !areLocal(addresses) && env['ENGINE_INSECURE'] !== '1') {
    problems.push(
      'ENGINE_ADDRESSES beyond this machine needs ENGINE_TLS_*_FILE (or ENGINE_INSECURE=1)',
    );
  }
  return addresses;
}

function readUser({ env, problems }: EnvironmentReader): EngineConfig['user'] {
  const value = env['ENGINE_USER'];
  if (!value) return null;
  const [, uid, gid] = /^(\d{1,9}):(\d{1,9})$/.exec(value) ?? [];
  if (uid === undefined) problems.push('ENGINE_USER must be UID:GID, such as 990:990');
  return { uid: Number(uid), gid: Number(gid) };
}
