import { Command, InvalidArgumentError, Option } from 'commander';
import { createClient, type Scope, scopes } from '../auth/index.ts';
import { CommandFailed, chooseInstitution, readScopes, say, withStores } from './command.ts';

const grants = ['client_credentials', 'password'] as const;

interface Options {
  readonly institution?: string;
  readonly name?: string;
  readonly scopes: Scope[];
  readonly grants: (typeof grants)[number][];
  readonly tokenLifetime?: number;
}

export function createClientCommand(): Command {
  return new Command('create')
    .description('register an OAuth client; prints its secret, once')
    .argument('<client-id>', '1 to 128 visible ASCII characters', readClientId)
    .option('--institution <code>', 'whose client it is')
    .option('--name <name>', 'for people; the client id when left out')
    .addOption(
      new Option('--scopes <scopes>', 'space separated').argParser(readScopes).default([...scopes], 'all'),
    )
    .addOption(
      new Option('--grants <grants>', 'space separated')
        .argParser(readGrants)
        .default(['client_credentials'], 'client_credentials'),
    )
    .option('--token-lifetime <seconds>', 'from 60 to 86400; the service decides when left out', readLifetime)
    .action(async (clientId: string, options: Options) => {
      await withStores(async (stores) => {
        const { institutionId } = await chooseInstitution(stores, options.institution);
        const created = await createClient(stores.auth, {
          institutionId,
          clientId,
          name: options.name ?? clientId,
          scopes: options.scopes,
          grants: options.grants,
          ...(options.tokenLifetime !== undefined && { tokenLifetimeSeconds: options.tokenLifetime }),
        });
        if (created === undefined) throw new CommandFailed('The client id is taken.');
        say(`client_id:     ${clientId}\nclient_secret: ${created.secret}`);
      });
    });
}

function readClientId(text: string): string {
  if (!/^[!-~]{1,128}$/.test(text)) throw new InvalidArgumentError('1 to 128 visible ASCII characters.');
  return text;
}

function readGrants(text: string): (typeof grants)[number][] {
  return text.split(/\s+/).map((name) => {
    const grant = grants.find((known) => known === name);
    if (grant === undefined) throw new InvalidArgumentError(`Grants are ${grants.join(', ')}.`);
    return grant;
  });
}

function readLifetime(text: string): number {
  const seconds = /^[0-9]{2,5}$/.test(text) ? Number(text) : 0;
  if (seconds < 60 || seconds > 86_400) throw new InvalidArgumentError('From 60 to 86400.');
  return seconds;
}
