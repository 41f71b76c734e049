import { Command, Option } from 'commander';
import type { Rotation } from '../auth/index.ts';
import { say, withStores } from './command.ts';

export function keyCommands(): Command[] {
  return [list(), rotate()];
}

function list(): Command {
  return new Command('list')
    .description('the keys that sign and verify tokens, and what each is doing')
    .action(async () => {
      await withStores(async ({ auth }) => {
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
      'make the next signing key; without an option it signs in ten minutes, when every copy of the published keys has been renewed',
    )
    .addOption(
      new Option(
        '--now',
        'sign with it in one minute: a verifier that keeps the published keys for their five minutes and does not look again for an unknown kid refuses new tokens until then',
      ).conflicts('compromised'),
    )
    .addOption(
      new Option('--compromised', 'sign with it at once and throw all others away: every living token dies'),
    )
    .action(async (options: { now?: true; compromised?: true }) => {
      const how: Rotation = options.compromised ? 'compromised' : options.now ? 'now' : 'soon';
      await withStores(async ({ auth }, origin) => auth.keys.rotate(how, origin), {
        underAnySecretKey: how === 'compromised',
      });
      say('The next key is made.');
    });
}
