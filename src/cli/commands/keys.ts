import { Command, Option } from 'commander';
import type { Rotation } from '../../auth/index.ts';
import { say, withContext } from '../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../confirm.ts';
import { jsonOption, type OutputOptions, sayList } from '../output.ts';

export function keyCommands(): Command[] {
  return [list(), rotate()];
}

function list(): Command {
  return new Command('list')
    .description('list the keys that sign and verify tokens, with their states')
    .addOption(jsonOption())
    .action(async (options: OutputOptions) => {
      await withContext(async ({ auth }) => {
        await sayList(
          await auth.keys.list(),
          {
            columns: {
              key: ({ kid }) => kid,
              state: ({ state }) => state,
              'signs from': ({ signsFrom }) => signsFrom,
              'private part': ({ hasPrivatePart }) => (hasPrivatePart ? 'kept' : 'wiped'),
            },
            document: (key) => ({ ...key }),
            none: 'There is no key yet.',
          },
          options,
        );
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
