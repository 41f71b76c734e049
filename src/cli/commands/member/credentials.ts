import { text as readAll } from 'node:stream/consumers';
import { Command } from 'commander';
import { reissueActivation, reissueEmailCode, setPassword } from '../../../auth/index.ts';
import {
  CommandError,
  type InstitutionOptions,
  institutionOption,
  onInstitution,
  say,
  withInstitution,
} from '../../command.ts';

export const user = ['<user>', 'username or user id'] as const;

export function credentialCommands(): Command[] {
  return [setPasswordCommand(), activationCodeCommand(), emailCodeCommand()];
}

function setPasswordCommand(): Command {
  return new Command('set-password')
    .description("set a member's password, read from standard input; ends a lock after wrong passwords")
    .argument(...user)
    .option(...institutionOption)
    .action(async (name: string, _options: InstitutionOptions, command: Command) => {
      await withInstitution(command, async ({ auth, institutionId, origin }) => {
        if (process.stdin.isTTY) process.stderr.write('New password, then Ctrl-D: ');
        const password = (await readAll(process.stdin)).replace(/\r?\n$/, '');
        if (!(await setPassword(auth, institutionId, { name, password, origin }))) throw noSuchUser();
        say('The password is set.');
      });
    });
}

function activationCodeCommand(): Command {
  return onInstitution(
    new Command('activation-code')
      .description('issue a new activation code for a registered member; the old one ends')
      .argument(...user),
    async ({ auth, institutionId, origin }, _options: InstitutionOptions, name: string) => {
      const issued = await reissueActivation(auth, institutionId, { name, origin });
      if (issued === undefined) throw noSuchUser();
      say(`${issued.code}\nvalid until ${issued.expiresAt.toISOString()}`);
    },
  );
}

function emailCodeCommand(): Command {
  return onInstitution(
    new Command('email-code')
      .description("issue a new code that confirms a member's e-mail address; the old one ends")
      .argument(...user),
    async ({ auth, institutionId, origin }, _options: InstitutionOptions, name: string) => {
      const issued = await reissueEmailCode(auth, institutionId, { name, origin });
      if (issued === 'no_such_user') throw noSuchUser();
      if (issued === 'verified_already') {
        throw new CommandError('The e-mail address of this member is verified already.');
      }
      say(`${issued.code}\nfor ${issued.emailAddress}, valid until ${issued.expiresAt.toISOString()}`);
    },
  );
}

export function noSuchUser(): CommandError {
  return new CommandError(
    'No user of this institution has this username or user id and a login, or two users match: one by username, one by user id.',
  );
}
