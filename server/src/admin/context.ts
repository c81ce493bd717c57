import type { DatabaseRole, Pool } from '../db.ts';
import type { Output, Streams } from './output.ts';

/** What every command works with. Made once the command line is known to be right. */
export interface AdminContext {
  readonly db: Pool;
  /** For what needs other rights than `db` has. */
  readonly databaseUrl: string;
  readonly output: Output;
  /** Who does this: stands in the ledger beside every grant and adjustment. */
  readonly actor: string;
  readonly apiKeyPepper: Buffer | null;
}

/** Opens the database for one command and closes it after. A number is the exit status. */
export type RunCommand = (
  work: (context: AdminContext) => Promise<number | void>,
  /** Whose rights it takes: the operator's unless fewer will do. */
  role?: DatabaseRole,
) => Promise<void>;

export interface AdminEnvironment extends Streams {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where `npm run dev` keeps its things. */
  readonly devFolder: string;
  readonly userName: string;
}
