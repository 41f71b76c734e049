/** The roles of operators. A person may have several. The database has the same list. */
export const operatorRoles = ['viewer', 'teller', 'approver', 'administrator', 'auditor'] as const;
export type OperatorRole = (typeof operatorRoles)[number];

const everyone = operatorRoles;

/**
 * The one table of rights: the roles that have each. Every operation of /operations/v1 names one right. It is read at each request, so a
 * role that is taken away ends with it. Nobody may do both sides of dual control: that needs two persons, whatever their roles.
 */
export const rights = {
  /** Settings, calendar, clients, webhooks, the core, figures: nothing about a member, but the accounts of breaks, which the audit notes. */
  'institution:read': everyone,
  /** Members, accounts, entries and transfers, lists and later pages too. Each read leaves an audit entry, or is counted in one of its minute. */
  'members:read': ['viewer', 'teller', 'approver', 'auditor'],
  /** Locks and sessions of members; restrictions of accounts. */
  'members:serve': ['teller'],
  /** Codes and passwords of members, the end of the second factor: together they open any member's accounts. Needs a sign-in within five minutes. */
  'members:recover': ['teller'],
  /** For good: the erasure of a person, the end of an account. */
  'members:erase': ['administrator'],
  /** Approve, decline, reverse. Needs a sign-in within five minutes. */
  'transfers:decide': ['approver'],
  /** Breaks: an owner, a note. */
  'breaks:work': ['teller', 'approver'],
  /** Settings, calendar, webhooks; clients' names and pauses, the end of their secrets; providers off and on. */
  'institution:change': ['administrator'],
  /** Clients' secrets, keys, certificates and scopes: with them a program acts for the institution, and posts money. Needs a sign-in within five minutes. */
  'clients:empower': ['administrator'],
  /** Register, change and remove providers, each of which may assert every member (ADR 71). Needs a sign-in within five minutes. */
  'providers:manage': ['administrator'],
  /** A dry run of the past by other rules: sums of orders, and the orders themselves only with `members:read`. */
  'rules:preview': ['administrator', 'auditor'],
  /** Invite, suspend and end operators; a new code makes whoever has it that operator. Needs a sign-in within five minutes. */
  'operators:manage': ['administrator'],
  /** The own passkeys. Needs a sign-in within five minutes, so that a session that was left open changes none. */
  'passkeys:own': everyone,
  /** Sign a command line in. Needs a sign-in within five minutes. */
  'devices:approve': everyone,
  'audit:read': ['auditor', 'administrator'],
  'audit:export': ['auditor'],
} as const satisfies Readonly<Record<string, readonly OperatorRole[]>>;
export type Right = keyof typeof rights;

/** Rights that need a recent sign-in, with its greatest age. */
export const freshSeconds: Readonly<Partial<Record<Right, number>>> = {
  'members:recover': 300,
  'transfers:decide': 300,
  'clients:empower': 300,
  'providers:manage': 300,
  'operators:manage': 300,
  'passkeys:own': 300,
  'devices:approve': 300,
};

export function mayUse(roles: readonly OperatorRole[], right: Right): boolean {
  const having: readonly OperatorRole[] = rights[right];
  return roles.some((role) => having.includes(role));
}

export function rightsOf(roles: readonly OperatorRole[]): Right[] {
  return (Object.keys(rights) as Right[]).filter((right) => mayUse(roles, right));
}
