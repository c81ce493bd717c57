import type { DatabaseRole, Pool } from '../platform/database/db.ts';
import type { Peppers } from '../accounts/keys/peppers.ts';
import type { Ask } from './confirm.ts';
import type { Output, Streams } from './output.ts';

/** Passed to every command after the command line has been validated. */
export interface AdminContext {
  readonly db: Pool;
  /** For commands that need other rights than `db` has. */
  readonly databaseUrl: string;
  readonly output: Output;
  /** The database login, recorded with every grant and adjustment. */
  readonly actor: string;
  readonly peppers: Peppers | null;
}

/** Opens the database for one command and closes it after. A number is the exit status. */
export type RunCommand = (
  work: (context: AdminContext) => Promise<number | void>,
  /** The database role to use. Default: the operator's. */
  role?: DatabaseRole,
) => Promise<void>;

export interface AdminEnvironment extends Streams {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The data folder of `npm run dev`. */
  readonly devFolder: string;
  /** Undefined: nobody can answer. */
  readonly ask?: Ask | undefined;
}
