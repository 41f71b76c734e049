import * as Type from 'typebox/type';
import {
  institutionOf,
  mayUse,
  searchAnything,
  selectDatabaseFacts,
  tailEvents,
  todaysFigures,
  waitingAges,
} from '../../../operators/index.ts';
import { Problem } from '../../../shared/problem.ts';
import { programVersion } from '../../../shared/process/program-version.ts';
import { presentEvent } from '../../presenters.ts';
import { type OperatorOperation, operatorOperation } from '../operation.ts';
import {
  amount,
  anything,
  flag,
  line,
  moment,
  oneOf,
  optional,
  orNull,
  shape,
  text,
  texts,
  whole,
} from '../shapes.ts';

const later = { retryAfterSeconds: 30 };

const Minutes = Type.Array(shape({ minutesAgo: whole, transfers: whole }));

const number = Type.Number();
const Spread = shape({ half: orNull(number), most: orNull(number) });

/** Null without METRICS_PORT. */
const Work = shape({
  queues: Type.Array(shape({ queue: text, waiting: whole, capacity: whole })),
  lanes: whole,
  lanesBusy: whole,
  batchOrders: orNull(Spread),
  waitSeconds: orNull(Spread),
});

export const figureOperations: readonly OperatorOperation[] = [
  operatorOperation({
    operationId: 'showToday',
    method: 'GET',
    path: '/today',
    right: 'institution:read',
    summary:
      'The figures of the institution’s day: money moved, declines, transfers per minute, waiting transfers by reason and age, sign-ins.',
    response: shape({
      at: moment,
      since: moment,
      moved: Type.Array(
        shape({ transferType: orNull(text), status: text, currency: text, transfers: whole, amount }),
      ),
      declines: Type.Array(shape({ failureCode: orNull(text), transfers: whole })),
      perMinute: shape({ lastHour: Minutes, hourYesterday: Minutes }),
      waiting: Type.Array(
        shape({
          ...{ heldFor: text, transfers: whole, oldestAt: orNull(moment), nextDueAt: orNull(moment) },
          ages: Type.Array(shape({ age: oneOf(waitingAges), transfers: whole })),
        }),
      ),
      signIns: Type.Array(shape({ outcome: text, signIns: whole })),
      webhooks: shape({
        ...{ endpoints: whole, disabled: whole, failingSince: orNull(moment) },
        ...{ eventsBehind: whole, lagSeconds: orNull(Type.Number()) },
      }),
      core: shape({ heardAt: orNull(moment), oldestUndeliveredAt: orNull(moment) }),
      reconcile: shape({ finishedAt: orNull(moment), findings: orNull(whole), runId: orNull(text) }),
    }),
    handle: async (deps, { institutionId }) => todaysFigures(deps, await institutionOf(deps, institutionId)),
  }),
  operatorOperation({
    operationId: 'followToday',
    method: 'GET',
    path: '/today/stream',
    right: 'institution:read',
    summary:
      'The figures of `GET /today` as they change, and the names of screens that show something else by now. It ends with the session, and when roles change.',
    query: Type.Object({
      lastEventId: optional(Type.String({ maxLength: 64, description: 'As `Last-Event-ID`.' })),
    }),
    response: text,
    isStream: true,
    async handle({ live }, { operator, reader: { lastId, stepAside } }) {
      const left = stepAside();
      if (left.aborted) throw new Problem('overloaded', 'Too many requests wait already.', later);
      return live.open(operator, { lastId, left });
    },
  }),
  operatorOperation({
    operationId: 'searchAnything',
    method: 'GET',
    path: '/search',
    right: 'institution:read',
    summary:
      'Breaks, clients, webhooks and operators by id, name, e-mail address, URL or amount; for roles that read members, also persons, accounts, transfers and events. At most ten of each, exact hits first; `hasMore` names kinds whose list goes on.',
    query: Type.Object({ text: line(254) }),
    response: shape({
      members: Type.Array(anything),
      accounts: Type.Array(anything),
      transfers: Type.Array(anything),
      events: Type.Array(
        shape({ eventId: text, sequence: whole, eventType: text, at: moment, transferId: orNull(text) }),
      ),
      clients: Type.Array(shape({ clientId: text, name: text, active: flag })),
      breaks: Type.Array(anything),
      webhooks: Type.Array(shape({ endpointId: text, url: text, clientId: text, status: text })),
      operators: Type.Array(shape({ operatorId: text, name: text, roles: texts, status: text })),
      hasMore: shape({
        ...{ members: flag, transfers: flag, breaks: flag, clients: flag, webhooks: flag, operators: flag },
      }),
    }),
    handle: (deps, { operator, institutionId, query, origin }) => {
      const isOfMembers = mayUse(operator.roles, 'members:read');
      return searchAnything(deps, institutionId, { text: query.text, isOfMembers, origin });
    },
  }),
  operatorOperation({
    operationId: 'listEvents',
    method: 'GET',
    path: '/events',
    right: 'members:read',
    summary: 'The feed of events from a sequence on; without one the last ten. The audit records the read.',
    query: Type.Object({
      from: optional(Type.Integer({ minimum: 1 })),
      limit: optional(Type.Integer({ minimum: 1, maximum: 200 })),
    }),
    response: Type.Array(anything),
    async handle(deps, { institutionId, query: { from, limit = 50 }, origin }) {
      const start = from === undefined ? undefined : BigInt(from);
      const events: object[] = [];
      for await (const event of tailEvents(deps, institutionId, { from: start, follow: false, origin })) {
        events.push(presentEvent(event));
        if (events.length === limit) break;
      }
      return events;
    },
  }),
  operatorOperation({
    operationId: 'showSystem',
    method: 'GET',
    path: '/system',
    right: 'institution:read',
    summary: 'Versions, the state of the database, and the queues and batches of all processes.',
    response: shape({ version: text, node: text, database: anything, work: orNull(Work) }),
    async handle({ database, work }) {
      const { indexes: _, ...facts } = await database.directory(selectDatabaseFacts);
      return { version: programVersion, node: process.version, database: facts, work: await work() };
    },
  }),
];
