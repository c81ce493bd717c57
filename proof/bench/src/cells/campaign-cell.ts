import { setCell } from '@svc-asr/server/accounts/cell.ts';
import { createAccountWithKey, type Tenant } from '@svc-asr/local/account-with-key.ts';
import { Fleet } from '../service/fleet.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** The peppers of a cell. The first hashes its new keys; the others only verify. */
export interface CellPeppers {
  readonly id: number;
  readonly secret: Buffer;
  readonly keyring: string;
}

/** A cell: its own PostgreSQL, service process and name. */
export class CampaignCell {
  readonly id: string;
  readonly fleet: Fleet;
  readonly #process: ServiceProcess;
  readonly #peppers: CellPeppers;

  private constructor(input: {
    id: string;
    fleet: Fleet;
    process: ServiceProcess;
    peppers: CellPeppers;
  }) {
    this.id = input.id;
    this.fleet = input.fleet;
    this.#process = input.process;
    this.#peppers = input.peppers;
  }

  static async start(input: {
    id: string;
    peppers: CellPeppers;
    edgePort: number;
  }): Promise<CampaignCell> {
    const { id, peppers } = input;
    const fleet = await Fleet.start({ isDurable: true });
    await setCell(fleet.pool, id);
    const env = {
      API_KEY_PEPPER: peppers.keyring,
      NODE_ID: `${id}-node`,
      PUBLIC_STREAM_URL: `wss://${id}.svc.example:${input.edgePort}`,
      TRUSTED_PROXIES: '127.0.0.1',
    };
    const process = await fleet.launch(env).catch(async (error: unknown) => {
      await fleet.stop();
      throw error;
    });
    return new CampaignCell({ id, fleet, process, peppers });
  }

  /** The address that the edge forwards to. */
  get address(): string {
    return new URL(this.#process.url).host;
  }

  addTenant(creditMs: number): Promise<Tenant> {
    const { id: pepperId, secret: pepper } = this.#peppers;
    const rules = { pepperId };
    return createAccountWithKey(this.fleet.pool, { creditMs, pepper, cell: this.id, rules });
  }

  /** Kills the process and its database with SIGKILL. */
  async die(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#process.exited;
    await this.fleet.postgres.stop('immediate');
  }

  stop(): Promise<void> {
    return this.fleet.stop();
  }
}
