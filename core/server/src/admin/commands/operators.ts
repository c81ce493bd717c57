import type { Command } from 'commander';
import { createEnrolment, setOperator } from '../../accounts/people/operators.ts';
import { resetPasskeys } from '../../accounts/people/passkeys.ts';
import { createSignInCode } from '../../accounts/people/sign-in-code.ts';
import { parseEmailArgument } from '../arguments.ts';
import type { RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { EXIT, Problem } from '../problem.ts';

const EMAIL = ['<email>', 'the address they sign in with', parseEmailArgument] as const;
const TOO_MANY_CODES =
  'Five codes were created for this operator within an hour. Wait, then retry.';
const EXAMPLE = 'amina@service.example';

export function addOperatorsCommand(program: Command, run: RunCommand): void {
  const operators = program
    .command('operators')
    .description('manage who may approve the waitlist in the console');
  examples(operators, [`operators add ${EXAMPLE}`, `operators enrol ${EXAMPLE}`]);
  for (const verb of ['add', 'remove'] as const) {
    const command = operators
      .command(verb)
      .description(
        verb === 'add'
          ? 'make a console user an operator; removes the passkeys they had and signs them out'
          : 'take the role away; their open sessions lose its rights at once',
      )
      .argument(...EMAIL)
      .action((email: string) =>
        run(async ({ db, output }) => {
          if (!(await setOperator(db, { email, isOperator: verb === 'add' }))) {
            throw unknownPerson(email);
          }
          output.show({ email, is_operator: verb === 'add' });
          if (verb === 'add') output.say(`Next: svc-admin operators enrol ${email}`);
        }),
      );
    examples(command, [`operators ${verb} ${EXAMPLE}`]);
  }
  const enrol = operators
    .command('enrol')
    .description('create a code with which an operator adds a passkey: once, within 15 minutes')
    .argument(...EMAIL)
    .action((email: string) =>
      run(async ({ db, output }) => {
        const enrolment = await createEnrolment(db, email);
        if (enrolment === 'not_operator') throw notOperator(email);
        if (enrolment === 'limit_reached') throw new Problem(TOO_MANY_CODES);
        output.show({ email, enrolment_code: enrolment.code, works_for: '15 minutes, once' });
        output.say(
          'Give it to them in person or by phone, not by email. They sign in to the console with an email code, ' +
            'add a passkey in the settings, and enter this code. All operators get an email.',
        );
      }),
    );
  examples(enrol, [`operators enrol ${EXAMPLE}`]);
  addSignInCode(operators, run);
}

function addSignInCode(operators: Command, run: RunCommand): void {
  const command = operators
    .command('sign-in-code')
    .description('create a code with which an operator signs in without an email: once')
    .argument(...EMAIL)
    .action((email: string) =>
      run(async ({ db, output, peppers }) => {
        if (peppers === null) {
          throw new Problem('Set API_KEY_PEPPER as in the service: it protects codes.', EXIT.usage);
        }
        const issued = await createSignInCode(db, { email, pepper: peppers[0] });
        if (issued === 'not_operator') throw notOperator(email);
        if (issued === 'limit_reached') throw new Problem(TOO_MANY_CODES);
        const page = `/app#challenge=${issued.challenge}`;
        output.show({ email, page, code: issued.code, works_for: '10 minutes, once' });
        output.say('They open this page of the console and enter the code.');
      }),
    );
  examples(command, [`operators sign-in-code ${EXAMPLE}`]);
}

export function addPasskeysCommand(program: Command, run: RunCommand): void {
  const passkeys = program.command('passkeys').description('help people who lost their passkeys');
  examples(passkeys, [`passkeys reset ${EXAMPLE}`]);
  const reset = passkeys
    .command('reset')
    .description('remove all passkeys of a person and sign them out; first make sure who is asking')
    .argument(...EMAIL)
    .action((email: string) =>
      run(async ({ db, output }) => {
        const removed = await resetPasskeys(db, email);
        if (removed === null) throw unknownPerson(email);
        output.show({ email, removed_passkeys: removed });
        output.say(
          'They can sign in with an email code and add a passkey. An operator also needs a code: svc-admin operators enrol.',
        );
      }),
    );
  examples(reset, [`passkeys reset ${EXAMPLE}`]);
}

function notOperator(email: string): Problem {
  return new Problem(`${email} is not an operator. See \`svc-admin operators add --help\`.`);
}

function unknownPerson(email: string): Problem {
  return new Problem(
    `No console user has the address ${email}. Check it. Approve their request first (svc-admin waitlist approve), or invite them to an account.`,
  );
}
