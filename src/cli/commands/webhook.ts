import { Command, InvalidArgumentError, Option } from 'commander';
import { Problem } from '../../shared/problem.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  type EndpointCaller,
  type EndpointKeys,
  type EndpointSettings,
  getWebhook,
  listAttempts,
  listDeliveries,
  listWebhooks,
  orderings,
  payloads,
  pingWebhook,
  type Replay,
  replayWebhook,
  rotateWebhookKeys,
  type ShownEndpoint,
  type WebhookChange,
  type WebhookDeps,
} from '../../webhooks/index.ts';
import { matching, readNameForPeople } from '../arguments.ts';
import { CommandError, institutionOption, say, withInstitution } from '../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../confirm.ts';
import { jsonOption, type OutputOptions, sayEach, sayOne } from '../output.ts';

const shownAttempts = 20;

export function webhookCommands(): Command[] {
  return [list(), show(), create(), set(), pause(), enable(), rotate(), ping(), replay(), remove()];
}

interface Options {
  readonly institution?: string;
}

/** Runs an act of the operator on an institution's endpoints. CommandError for a problem. */
async function withWebhooks(
  command: Command,
  act: (deps: WebhookDeps, caller: EndpointCaller) => Promise<void>,
): Promise<void> {
  await withInstitution(command, async ({ context, institutionId, origin }) => {
    try {
      await act(context.webhooks, { institutionId, clientId: null, origin });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const [part] = error.errors ?? [];
      throw new CommandError(part === undefined ? error.detail : `${part.pointer.slice(1)}: ${part.detail}`);
    }
  });
}

function onEndpoint(
  name: string,
  description: string,
  act: (deps: WebhookDeps, caller: EndpointCaller, endpointId: string) => Promise<void>,
): Command {
  return new Command(name)
    .description(description)
    .argument('<endpoint-id>', 'as `webhook list` shows it', readEndpointId)
    .option(...institutionOption)
    .action((endpointId: string, _options: Options, command: Command) =>
      withWebhooks(command, (deps, caller) => act(deps, caller, endpointId)),
    );
}

function list(): Command {
  return new Command('list')
    .description('list the endpoints of an institution with their health')
    .option(...institutionOption)
    .addOption(jsonOption())
    .action((options: Options & OutputOptions, command: Command) =>
      withWebhooks(command, async (deps, caller) => {
        const none = 'No client has an endpoint.';
        await sayEach(
          await listWebhooks(deps, caller),
          { text: describe, document: documentOf, none },
          options,
        );
      }),
    );
}

function show(): Command {
  return new Command('show')
    .description('show an endpoint with its last attempts and the events that it has not accepted')
    .argument('<endpoint-id>', 'as `webhook list` shows it', readEndpointId)
    .option(...institutionOption)
    .addOption(jsonOption())
    .action((endpointId: string, options: Options & OutputOptions, command: Command) =>
      withWebhooks(command, async (deps, caller) => {
        const endpoint = await getWebhook(deps, caller, endpointId);
        const page = { limit: shownAttempts, after: null };
        const listOf = async (state: 'WAITING' | 'PARKED') =>
          (await listDeliveries(deps, caller, { endpointId, state, page })).items;
        const [waiting, parked] = [await listOf('WAITING'), await listOf('PARKED')];
        const attempts = (await listAttempts(deps, caller, { endpointId, page })).items;
        if (options.json) {
          const document = { ...documentOf(endpoint), waiting, parked, lastAttempts: attempts };
          return sayOne({ document, facts: [] }, options);
        }
        say(describe(endpoint));
        for (const [state, events] of Object.entries({ waiting, parked })) {
          for (const { eventId, number, attempts: tries, nextAttemptAt } of events) {
            const next = nextAttemptAt === null ? '' : `, next ${nextAttemptAt.toISOString()}`;
            say(`  ${state}  ${number}  ${eventId}  ${tries} attempts${next}`);
          }
        }
        for (const attempt of attempts) {
          const { attemptedAt, eventType, delivered, status, error, durationMs } = attempt;
          const outcome = delivered ? `${status}` : `${error} ${attempt.response ?? ''}`.trimEnd();
          say(`  ${attemptedAt.toISOString()}  ${eventType}  ${durationMs} ms  ${outcome}`);
        }
      }),
    );
}

interface SettingOptions extends Options {
  readonly url?: string;
  readonly description?: string;
  readonly types?: string[];
  readonly allTypes?: true;
  readonly payload?: 'thin' | 'full';
  readonly ordering?: 'account' | 'strict';
}

function withSettings(command: Command): Command {
  return command
    .option('--description <text>', 'a name for people', readNameForPeople)
    .option('--types <types>', 'only events of these types, separated by spaces', readTypes)
    .addOption(
      new Option('--payload <payload>', 'thin: ids and sequences; full: the whole event').choices(
        payloads.map((payload) => payload.toLowerCase()),
      ),
    )
    .addOption(
      new Option('--ordering <ordering>', 'wait for earlier events of the account only, or of all').choices(
        orderings.map((ordering) => ordering.toLowerCase()),
      ),
    )
    .option(...institutionOption);
}

function create(): Command {
  return withSettings(
    new Command('create')
      .description('register an address for the events of a client; prints its secret, once')
      .argument('<client-id>', 'the client that owns the endpoint')
      .argument('<url>', 'https, with a public address'),
  ).action((clientId: string, url: string, options: SettingOptions, command: Command) =>
    withWebhooks(command, async (deps, caller) => {
      const settings: EndpointSettings = {
        url,
        description: null,
        eventTypes: null,
        payload: 'THIN',
        ordering: 'ACCOUNT',
        ...settingsOf(options),
      };
      const created = await createWebhook(deps, { ...caller, clientId }, settings).catch(refuseUnknownClient);
      say(`endpoint_id: ${created.endpoint.endpointId}`);
      sayKeys(created.keys);
    }),
  );
}

function set(): Command {
  return withSettings(
    new Command('set')
      .description('change an endpoint')
      .argument('<endpoint-id>', 'as `webhook list` shows it', readEndpointId)
      .option('--url <url>', 'https, with a public address')
      .addOption(new Option('--all-types', 'events of all types').conflicts('types')),
  ).action((endpointId: string, options: SettingOptions, command: Command) => {
    const all = options.allTypes === true ? { eventTypes: null } : {};
    const change: WebhookChange = {
      ...settingsOf(options),
      ...all,
      ...(options.url && { url: options.url }),
    };
    if (Object.keys(change).length === 0) command.error('error: name at least one option to change');
    return withWebhooks(command, (deps, caller) => changeWebhook(deps, caller, { endpointId, change }));
  });
}

function settingsOf({ description, types, payload, ordering }: SettingOptions): Partial<EndpointSettings> {
  return {
    ...(description !== undefined && { description }),
    ...(types && { eventTypes: types }),
    ...(payload && { payload: payload === 'full' ? 'FULL' : 'THIN' }),
    ...(ordering && { ordering: ordering === 'strict' ? 'STRICT' : 'ACCOUNT' }),
  };
}

function pause(): Command {
  return onEndpoint(
    'pause',
    'send nothing until it is enabled; nothing is lost',
    (deps, caller, endpointId) => changeWebhook(deps, caller, { endpointId, change: { status: 'PAUSED' } }),
  );
}

function enable(): Command {
  return onEndpoint(
    'enable',
    'send again, from the last event on; also ends a wait after failures',
    (deps, caller, endpointId) => changeWebhook(deps, caller, { endpointId, change: { status: 'ACTIVE' } }),
  );
}

function rotate(): Command {
  return new Command('rotate')
    .description('make a new secret and a new key; prints them, once')
    .argument('<endpoint-id>', 'as `webhook list` shows it', readEndpointId)
    .option('--overlap <hours>', 'hours for which the ones before stay valid', readHours, 24)
    .option(...institutionOption)
    .action((endpointId: string, options: Options & { readonly overlap: number }, command: Command) =>
      withWebhooks(command, async (deps, caller) => {
        sayKeys(await rotateWebhookKeys(deps, caller, { endpointId, overlapHours: options.overlap }));
      }),
    );
}

function ping(): Command {
  return onEndpoint(
    'ping',
    'send a test event at once and show the outcome',
    async (deps, caller, endpointId) => {
      const { delivered, status, error, durationMs } = await pingWebhook(deps, caller, endpointId);
      say(`${delivered ? `delivered: ${status}` : `not delivered: ${error}`}, ${durationMs} ms`);
      if (!delivered) process.exitCode = 1;
    },
  );
}

interface ReplayOptions extends Options {
  readonly from?: bigint;
  readonly since?: Date;
  readonly parked?: true;
}

function replay(): Command {
  return new Command('replay')
    .description('send events again: with one of the options')
    .argument('<endpoint-id>', 'as `webhook list` shows it', readEndpointId)
    .addOption(new Option('--from <sequence>', 'every event from this one on').argParser(readSequence))
    .addOption(
      new Option('--since <time>', 'every event from this time on').argParser(readTime).conflicts('from'),
    )
    .addOption(new Option('--parked', 'the parked events').conflicts(['from', 'since']))
    .option(...institutionOption)
    .action((endpointId: string, options: ReplayOptions, command: Command) => {
      const wanted = replayOf(options) ?? command.error('error: name one of --from, --since and --parked');
      return withWebhooks(command, async (deps, caller) => {
        const { events } = await replayWebhook(deps, caller, { endpointId, replay: wanted });
        say(`${events} ${events === 1 ? 'event' : 'events'} will be sent again.`);
      });
    });
}

function replayOf({ from, since, parked }: ReplayOptions): Replay | undefined {
  if (from !== undefined) return { from };
  if (since !== undefined) return { since };
  return parked === true ? { parked } : undefined;
}

function remove(): Command {
  return new Command('delete')
    .description('delete an endpoint with its secrets and its log')
    .argument('<endpoint-id>', 'as `webhook list` shows it', readEndpointId)
    .addOption(yesOption())
    .option(...institutionOption)
    .action(async (endpointId: string, options: Options & ConfirmOptions, command: Command) => {
      await confirm(
        `The endpoint ${endpointId} gets no further event, and its secrets and its log are gone.`,
        options,
      );
      await withWebhooks(command, (deps, caller) => deleteWebhook(deps, caller, endpointId));
    });
}

function documentOf(endpoint: ShownEndpoint) {
  const { endpointId, clientId, url, description, eventTypes, payload, ordering } = endpoint;
  const { status, statusReason, number, failures, failingSince, publicKeys } = endpoint;
  return {
    ...{ endpointId, clientId, url, description, eventTypes, payload, ordering, status, statusReason },
    ...{ position: number, failures, failingSince, publicKeys },
  };
}

function describe(endpoint: ShownEndpoint): string {
  const { endpointId, clientId, url, status, statusReason, number, failures, failingSince } = endpoint;
  const since = failingSince === null ? '' : `, failing since ${failingSince.toISOString()}`;
  return [
    `${endpointId}  ${url}`,
    `  client    ${clientId ?? 'none: mail to members'}${endpoint.description === null ? '' : ` (${endpoint.description})`}`,
    `  status    ${status.toLowerCase()}${statusReason === null ? '' : ` (${statusReason})`}`,
    `  sends     ${endpoint.eventTypes?.join(' ') ?? 'all types'}, ${endpoint.payload.toLowerCase()}, order by ${endpoint.ordering.toLowerCase()}`,
    `  position  event ${number}`,
    `  health    ${failures} failures in a row${since}`,
    ...endpoint.publicKeys.map(({ publicKey }) => `  key       ${publicKey}`),
  ].join('\n');
}

function sayKeys({ secret, publicKey }: EndpointKeys): void {
  say(`secret:      ${secret}\npublic_key:  ${publicKey}`);
}

function refuseUnknownClient(error: unknown): never {
  const isForeignKey = (error as { constraint?: string }).constraint?.endsWith('client_id_fkey') === true;
  throw isForeignKey ? new CommandError('The client does not exist in this institution.') : error;
}

const readEndpointId = matching(
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  '`sharedraft webhook list` shows the ids.',
);

function readTypes(text: string): string[] {
  const types = text.trim().split(/\s+/);
  if (types.every((type) => /^[a-z_]+\.[a-z_]+$/.test(type))) return types;
  throw new InvalidArgumentError('Types are like transfer.completed, separated by spaces.');
}

function readHours(text: string): number {
  const hours = Number(text);
  if (/^\d{1,3}$/.test(text) && hours <= 720) return hours;
  throw new InvalidArgumentError('From 0 to 720.');
}

function readSequence(text: string): bigint {
  if (/^[1-9]\d{0,15}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError('A number from 1.');
}

function readTime(text: string): Date {
  const time = new Date(text);
  if (/^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(time.getTime())) return time;
  throw new InvalidArgumentError('A time like 2026-11-20T15:04:05Z.');
}
