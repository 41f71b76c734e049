import { Command, Option } from 'commander';
import type { Rotation } from '../../auth/index.ts';
import { say, withContext } from '../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../confirm.ts';

export function keyCommands(): Command[] {
  return [list(), rotate()];
}

function list(): Command {
  return new Command('list')
    .description('list the keys that sign and verify tokens, with their states')
    .action(async () => {
      await withContext(async ({ auth }) => {
        for (const key of await auth.keys.list()) {
          const wiped = key.hasPrivatePart ? '' : '  private part wiped';
          say(`${key.kid}  ${key.state.padEnd(9)}  signs from ${key.signsFrom.toISOString()}${wiped}`);
        }
      });
    });
}

function rotate(): Command {
  return new Command('rotate')
    .description(
      'create the next signing key; without an option it signs in ten minutes, when every cached copy of the published keys has expired',
    )
    .addOption(
      new Option(
        '--now',
        'sign with it in one minute; a verifier that caches the published keys for five minutes, and does not reload them for an unknown kid, refuses new tokens until then',
      ).conflicts('compromised'),
    )
    .addOption(
      new Option('--compromised', 'sign with it at once and delete all others; every active token ends'),
    )
    .addOption(yesOption())
    .action(async (options: ConfirmOptions & { now?: true; compromised?: true }) => {
      const how: Rotation = options.compromised ? 'compromised' : options.now ? 'now' : 'soon';
      if (how === 'compromised')
        await confirm(
          'Every access token of every institution ends at once, and every member signs in again.',
          options,
        );
      await withContext(async ({ auth }, origin) => auth.keys.rotate(how, origin), {
        underAnySecretKey: how === 'compromised',
      });
      say('The next key is created.');
    });
}
