import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import { isModelId, MODEL_IDS, type ModelId } from '@svc-asr/protocol/constants.ts';
import { InvalidArgumentError, type Command } from 'commander';
import {
  countKeysByPepper,
  insertApiKey,
  listApiKeys,
  revokeApiKey,
} from '../../accounts/keys/api-keys.ts';
import { generateApiKey, hashApiKey } from '../../accounts/keys/format.ts';
import { findCell, isReportedPepper } from '../../accounts/cell.ts';
import { parseExpiry, parseText } from '../arguments.ts';
import type { AdminContext, RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { EXIT, Problem } from '../problem.ts';
import { ACCOUNT_ARGUMENT, accountOf } from '../short-id.ts';

const ACCOUNT = '7f0c9a52';

interface CreateOptions {
  readonly name: string;
  readonly models?: readonly ModelId[];
  readonly expires?: Date;
}

export function addKeysCommand(program: Command, run: RunCommand): void {
  const keys = program.command('keys').description('create, list and revoke API keys');
  examples(keys, [`keys create ${ACCOUNT} --name production`, `keys list ${ACCOUNT}`]);

  const create = keys
    .command('create')
    .description('create a key; it is shown only once')
    .argument(...ACCOUNT_ARGUMENT)
    .option('--name <name>', 'a name for the key', parseText(0, 200), '')
    .option('--models <ids>', 'only these models, separated by commas', parseModels)
    .option('--expires <date>', 'when it expires', parseExpiry)
    .action((shortId: string, options: CreateOptions) =>
      run((context) => createKey(context, shortId, options)),
    );
  examples(create, [
    `keys create ${ACCOUNT} --name production`,
    `keys create ${ACCOUNT} --models svc-asr-kikuyu-v1 --expires 2027-12-31`,
    `keys create ${ACCOUNT} --json | jq -r .key`,
  ]);

  const byPepper = keys
    .command('peppers')
    .description('how many working keys each pepper has; a pepper without keys can be removed')
    .action(() =>
      run(async ({ db, output }) => output.show(await countKeysByPepper(db)), 'svc_auditor'),
    );
  examples(byPepper, ['keys peppers']);

  const list = keys
    .command('list')
    .description('list the keys of an account, including expired and revoked ones')
    .argument(...ACCOUNT_ARGUMENT)
    .action((shortId: string) =>
      run(async (context) => listKeys(context, (await accountOf(context.db, shortId)).id)),
    );
  examples(list, [`keys list ${ACCOUNT}`]);

  const revoke = keys
    .command('revoke')
    .description(
      'revoke a key; every process refuses it within five seconds, and open streams finish',
    )
    .argument(...ACCOUNT_ARGUMENT)
    .argument('<key>', 'the key id that `keys list` shows')
    .action((shortId: string, id: string) =>
      run(async (context) => {
        const { id: accountId } = await accountOf(context.db, shortId);
        if (!(await revokeApiKey(context.db, { accountId, id }))) {
          throw new Problem(`Account ${accountId} has no key ${id}. See \`svc-admin keys list\`.`);
        }
        await listKeys(context, accountId);
      }),
    );
  examples(revoke, [`keys revoke ${ACCOUNT} 4fT0bKq2Wm9x`]);
}

async function createKey(
  { db, output, peppers }: AdminContext,
  shortId: string,
  options: CreateOptions,
): Promise<void> {
  if (peppers === null) {
    throw new Problem(
      'API_KEY_PEPPER is not set. Set it to the same value as in the service, or the service ' +
        'would refuse the key.',
      EXIT.usage,
    );
  }
  const { id: accountId, keyLimit } = await accountOf(db, shortId);
  if ((await isReportedPepper(db, peppers[0])) === false) {
    throw new Problem(
      'API_KEY_PEPPER differs from the one that the service started with, so the service would refuse the key. ' +
        'Set it to the same value as in the service.',
      EXIT.usage,
    );
  }
  const { key, publicId } = generateApiKey(await findCell(db));
  const created = await insertApiKey(db, {
    id: publicId,
    accountId,
    hmac: hashApiKey(key, peppers[0].secret),
    pepperId: peppers[0].id,
    name: options.name,
    scopes: options.models ?? null,
    expiresAt: options.expires ?? null,
  });
  if (!created) {
    const raised = Math.min(2 * keyLimit, CONSOLE_LIMITS.keyLimitMax);
    throw new Problem(
      `The account already has ${keyLimit} live keys, which is its limit. Revoke one (svc-admin keys list)` +
        (raised > keyLimit
          ? `, or raise the limit: svc-admin accounts set-key-limit ${accountId} ${raised}`
          : '.'),
    );
  }
  output.show({ key_id: publicId, account_id: accountId, key });
  output.say('Store the key in a secret manager now. It cannot be shown again.');
}

async function listKeys({ db, output }: AdminContext, accountId: string): Promise<void> {
  const keys = await listApiKeys(db, accountId);
  output.show(
    keys.map((key) => ({
      key_id: key.id,
      name: key.name,
      models: key.scopes ?? 'all',
      created_at: key.createdAt,
      expires_at: key.expiresAt,
      revoked_at: key.revokedAt,
      last_used_at: key.lastUsedAt,
    })),
  );
}

function parseModels(text: string): ModelId[] {
  const models = text.split(',').map((model) => model.trim());
  const known = models.filter(isModelId);
  if (known.length === models.length) return known;
  throw new InvalidArgumentError(`Choose from ${MODEL_IDS.join(', ')}.`);
}
