import { isModelId, MODEL_IDS, type ModelId } from '@svc-asr/protocol';
import { InvalidArgumentError, type Command } from 'commander';
import { findAccount } from '../accounts/accounts.ts';
import { insertApiKey, listApiKeys, revokeApiKey } from '../accounts/api-keys.ts';
import { generateApiKey, hashApiKey } from '../api-key-format.ts';
import { unknownAccount } from './accounts-command.ts';
import { parseExpiry, parseText, parseUuid } from './arguments.ts';
import type { AdminContext, RunCommand } from './context.ts';
import { examples } from './examples.ts';
import { EXIT, Problem } from './problem.ts';

const ACCOUNT = '7f0c9a52-3d5e-4c0f-9d55-0d6b1f0f4f11';

interface CreateOptions {
  readonly name: string;
  readonly models?: readonly ModelId[];
  readonly expires?: Date;
}

export function addKeysCommand(program: Command, run: RunCommand): void {
  const keys = program.command('keys').description('make, list and revoke API keys');
  examples(keys, [`keys create ${ACCOUNT} --name production`, `keys list ${ACCOUNT}`]);

  const create = keys
    .command('create')
    .description('make a key; it is shown this once and cannot be shown again')
    .argument('<account>', 'its id', parseUuid)
    .option('--name <name>', 'what it is for', parseText(0, 200), '')
    .option('--models <ids>', 'only these models, separated by commas', parseModels)
    .option('--expires <date>', 'until when it works', parseExpiry)
    .action((accountId: string, options: CreateOptions) =>
      run((context) => createKey(context, accountId, options)),
    );
  examples(create, [
    `keys create ${ACCOUNT} --name production`,
    `keys create ${ACCOUNT} --models svc-asr-kikuyu-v1 --expires 2027-12-31`,
    `keys create ${ACCOUNT} --json | jq -r .key`,
  ]);

  const list = keys
    .command('list')
    .description('the keys of an account, those that no longer work included')
    .argument('<account>', 'its id', parseUuid)
    .action((accountId: string) => run((context) => listKeys(context, accountId)));
  examples(list, [`keys list ${ACCOUNT}`]);

  const revoke = keys
    .command('revoke')
    .description('end a key; within five seconds every process refuses it, running streams finish')
    .argument('<account>', 'its id', parseUuid)
    .argument('<key>', 'the key id that `keys list` shows')
    .action((accountId: string, id: string) =>
      run(async (context) => {
        if (!(await revokeApiKey(context.db, { accountId, id }))) {
          throw new Problem(`Account ${accountId} has no key ${id}. See \`svc-admin keys list\`.`);
        }
        await listKeys(context, accountId);
      }),
    );
  examples(revoke, [`keys revoke ${ACCOUNT} 4fT0bKq2Wm9x`]);
}

async function createKey(
  { db, output, apiKeyPepper }: AdminContext,
  accountId: string,
  options: CreateOptions,
): Promise<void> {
  if (apiKeyPepper === null) {
    throw new Problem(
      'API_KEY_PEPPER is not set. Set it to the same value as in the service: without it the ' +
        'key would not be recognised.',
      EXIT.usage,
    );
  }
  if ((await findAccount(db, accountId)) === null) throw unknownAccount(accountId);
  const { key, publicId } = generateApiKey();
  const created = await insertApiKey(db, {
    id: publicId,
    accountId,
    hmac: hashApiKey(key, apiKeyPepper),
    name: options.name,
    scopes: options.models ?? null,
    expiresAt: options.expires ?? null,
  });
  if (!created) {
    throw new Problem(
      'The account has two live keys, which is the most. Revoke one first: ' +
        `svc-admin keys list ${accountId}`,
    );
  }
  output.show({ key_id: publicId, account_id: accountId, key });
  output.say('Put it in a secret manager now. It cannot be shown again.');
}

async function listKeys({ db, output }: AdminContext, accountId: string): Promise<void> {
  if ((await findAccount(db, accountId)) === null) throw unknownAccount(accountId);
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
