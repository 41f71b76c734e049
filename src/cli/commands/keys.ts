import { Command, Option } from 'commander';
import { type Rotation, replaceLostHashingKey } from '../../auth/index.ts';
import { resealSecrets } from '../../operators/index.ts';
import { say, withContext } from '../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../confirm.ts';
import { jsonOption, type OutputOptions, sayList } from '../output.ts';

export function keyCommands(): Command[] {
  return [list(), rotate(), reseal()];
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
      await withContext(
        async ({ auth }, origin) => {
          await auth.keys.rotate(how, origin);
          if (how === 'compromised') await replaceLostHashingKey(auth.database, auth.vault);
        },
        { underAnySecretKey: how === 'compromised' },
      );
      say('The next key is created.');
    });
}

function reseal(): Command {
  return new Command('reseal')
    .description(
      'seal everything under SECRET_KEY that only SECRET_KEY_OTHER opens; may be interrupted and repeated',
    )
    .action(async () => {
      await withContext(async ({ auth }, origin) => {
        const { keys, lost, codesUntil } = await resealSecrets(auth, origin);
        say(
          keys === 0
            ? 'Every key is sealed under SECRET_KEY.'
            : `${keys} keys are now sealed under SECRET_KEY.`,
        );
        if (lost > 0) say(`${lost} webhook keys are under a SECRET_KEY that was lost: see "webhook rotate".`);
        say(
          codesUntil === undefined
            ? 'SECRET_KEY_OTHER is no longer needed.'
            : `One-time codes under SECRET_KEY_OTHER end at ${codesUntil.toISOString()}; keep it until then.`,
        );
      });
    });
}
