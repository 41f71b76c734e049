import { type AuthDeps, listClients } from '../../auth/index.ts';
import type { CommandOrigin } from '../../events/index.ts';
import { type FeedEvent, findEvent } from '../../feed/index.ts';
import { formatMinor, parseDecimalAmount, toMinor } from '../../ledger/index.ts';
import type { Page } from '../../shared/page.ts';
import { isPublicId } from '../../shared/public-id.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { listWebhooks, type WebhookDeps } from '../../webhooks/index.ts';
import { selectOperators } from '../access/operator-queries.ts';
import { selectLedgerAccount } from '../accounts/account-queries.ts';
import { findBreaks } from '../core/read-breaks.ts';
import { breakDocument } from '../documents/break-document.ts';
import { institutionOf } from '../institutions/institution-of.ts';
import { findMembers } from '../members/find-members.ts';
import { type FoundTransferRow, selectTransferOfId } from '../transfers/search-queries.ts';
import { searchTransfers } from '../transfers/search-transfers.ts';

interface Deps {
  readonly database: Database;
  readonly clock: Clock;
  readonly auth: AuthDeps;
  readonly webhooks: WebhookDeps;
}

const most = 10;
const none: Page<FoundTransferRow> = { items: [], next: null };

interface Search {
  readonly text: string;
  /** Whether the roles allow members, accounts, transfers and events. Without it there are none of them. */
  readonly isOfMembers: boolean;
  readonly origin: CommandOrigin;
}

/**
 * Persons by number, address, id or name; an account, a transfer or an event by its id; transfers by amount; breaks by id, amount or the thing
 * that differs; clients, webhooks and operators by a part of their id or name. Every kind is searched, whatever the others find, and has its
 * exact hits first. The audit records the search for persons and for transfers of an amount, and notes one that found breaks.
 */
export async function searchAnything(deps: Deps, institutionId: InstitutionId, search: Search) {
  const { text, isOfMembers, origin } = search;
  const amountMinor = await amountOf(deps, institutionId, text);
  const ofMembers = isOfMembers
    ? await searchMembers(deps, institutionId, { ...search, amountMinor })
    : nothingOfMembers;
  const breakKey = /^[1-9][0-9]{0,17}$/.test(text) ? BigInt(text) : null;
  const wanted = {
    ...{ breakKey, text, limit: most + 1 },
    amountMinor: amountMinor === 0n ? null : amountMinor,
  };
  const breaks = await findBreaks(deps, institutionId, { wanted, origin });
  const clients = (await listClients(deps.auth, institutionId))
    .filter(({ clientId, name }) => isNamed(text, clientId, name))
    .map(({ clientId, name, active }) => ({ clientId, name, active }));
  const webhooks = (await listWebhooks(deps.webhooks, { institutionId, clientId: null }))
    .filter(({ endpointId, url, description }) => isNamed(text, endpointId, url, description))
    .map(({ endpointId, url, clientId, status }) => ({ endpointId, url, clientId: clientId ?? '', status }));
  const operators = (await deps.database.read(institutionId, selectOperators))
    .filter(({ operatorId, name, email }) => operatorId === text || isNamed(text, name, email))
    .map(({ operatorId, name, roles, status }) => ({ operatorId, name, roles, status }));
  const { hasMore, ...found } = ofMembers;
  return {
    ...found,
    breaks: breaks.slice(0, most).map(breakDocument),
    clients: clients.slice(0, most),
    webhooks: webhooks.slice(0, most),
    operators: operators.slice(0, most),
    hasMore: {
      ...hasMore,
      breaks: breaks.length > most,
      clients: clients.length > most,
      webhooks: webhooks.length > most,
      operators: operators.length > most,
    },
  };
}

const nothingOfMembers = {
  ...{ members: [], accounts: [], transfers: [], events: [] },
  hasMore: { members: false, transfers: false },
};

/** Everything that is about members. */
async function searchMembers(
  deps: Deps,
  institutionId: InstitutionId,
  { text, origin, amountMinor }: Search & { readonly amountMinor: bigint | null },
) {
  const { database } = deps;
  const members = await findMembers(deps, institutionId, { text, limit: most, origin });
  const [account, transfer] = isPublicId(text)
    ? await database.read(institutionId, (db) =>
        Promise.all([selectLedgerAccount(db, text), selectTransferOfId(db, text)]),
      )
    : [];
  const ofAmount =
    amountMinor === null ? none : await transfersOfAmount(deps, institutionId, { amountMinor, origin });
  const others = ofAmount.items.filter(({ transferKey }) => transferKey !== transfer?.transferKey);
  const found = [...(transfer === undefined ? [] : [transfer]), ...others];
  const transfers = found
    .slice(0, most)
    .map(({ transferId: id, amount, currency, fromAccountId, toAccountId, status, createdAt }) => ({
      ...{ id, fromAccountId, toAccountId, status, createdAt },
      amount: formatMinor(amount, currency),
      currencyCode: currency,
    }));
  const accounts =
    account === undefined
      ? []
      : [
          {
            accountId: account.accountId,
            accountType: account.purpose ?? account.diAccountType,
            memberNumber: account.memberNumber,
          },
        ];
  const event = await database.read(institutionId, (db) => findEvent(db, text));
  const events = event === undefined ? [] : [documentOf(event)];
  const hasMore = {
    members: members.length === most,
    transfers: found.length > most || ofAmount.next !== null,
  };
  return { members, accounts, transfers, events, hasMore };
}

/** An institution has some dozens of clients, webhooks and operators, so their lists are read whole. */
function isNamed(text: string, ...names: readonly (string | null | undefined)[]): boolean {
  return names.some((name) => name?.toLowerCase().includes(text.toLowerCase()));
}

function documentOf({ eventId, sequence, kind, at, transfer }: FeedEvent) {
  return { eventId, sequence: Number(sequence), eventType: kind, at, transferId: transfer?.id ?? null };
}

/** The text as an amount in the institution's currency, in minor units. */
async function amountOf(deps: Deps, institutionId: InstitutionId, text: string): Promise<bigint | null> {
  const parsed = parseDecimalAmount(text.replaceAll(',', ''));
  if ('invalid' in parsed) return null;
  const { currency } = await institutionOf(deps, institutionId);
  const minor = toMinor(parsed, currency);
  return typeof minor === 'bigint' ? minor : null;
}

function transfersOfAmount(
  deps: Deps,
  institutionId: InstitutionId,
  { amountMinor, origin }: { readonly amountMinor: bigint; readonly origin: CommandOrigin },
): Promise<Page<FoundTransferRow>> {
  const filter = { leastMinor: amountMinor, mostMinor: amountMinor };
  const page = { limit: most, after: null };
  return searchTransfers(deps, institutionId, { filter, page, origin });
}
