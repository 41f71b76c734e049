import { type AuthDeps, listClients } from '../../auth/index.ts';
import type { CommandOrigin } from '../../events/index.ts';
import { type FeedEvent, findEvent } from '../../feed/index.ts';
import { formatMinor, parseDecimalAmount, toMinor } from '../../ledger/index.ts';
import type { Page } from '../../shared/page.ts';
import { isPublicId } from '../../shared/public-id.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { listWebhooks, type WebhookDeps } from '../../webhooks/index.ts';
import { selectAccountRow } from '../accounts/account-queries.ts';
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

/**
 * Persons by number, address, id or name; an account, a transfer or an event by its id; transfers by amount; clients and webhooks by a part of
 * their id or name. Every kind is searched, whatever the others find, and has its exact hits first. The audit records the search for persons.
 */
export async function searchAnything(
  deps: Deps,
  institutionId: InstitutionId,
  { text, origin }: { readonly text: string; readonly origin: CommandOrigin },
) {
  const { database } = deps;
  const members = await findMembers(deps, institutionId, { text, limit: most, origin });
  const [account, transfer] = isPublicId(text)
    ? await database.read(institutionId, (db) =>
        Promise.all([selectAccountRow(db, text), selectTransferOfId(db, text)]),
      )
    : [];
  const ofAmount = await transfersOfAmount(deps, institutionId, { text, origin });
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
            accountType: account.diAccountType,
            memberNumber: account.memberNumber,
          },
        ];
  const clients = (await listClients(deps.auth, institutionId))
    .filter(({ clientId, name }) => isNamed(text, clientId, name))
    .map(({ clientId, name, active }) => ({ clientId, name, active }));
  const webhooks = (await listWebhooks(deps.webhooks, { institutionId, clientId: null }))
    .filter(({ endpointId, url, description }) => isNamed(text, endpointId, url, description))
    .map(({ endpointId, url, clientId, status }) => ({ endpointId, url, clientId: clientId ?? '', status }));
  const event = await database.read(institutionId, (db) => findEvent(db, text));
  const events = event === undefined ? [] : [documentOf(event)];
  const hasMore = {
    members: members.length === most,
    transfers: found.length > most || ofAmount.next !== null,
    clients: clients.length > most,
    webhooks: webhooks.length > most,
  };
  const few = { clients: clients.slice(0, most), webhooks: webhooks.slice(0, most) };
  return { members, accounts, transfers, events, ...few, hasMore };
}

/** An institution has some dozens of clients and webhooks, so their lists are read whole. */
function isNamed(text: string, ...names: readonly (string | null | undefined)[]): boolean {
  return names.some((name) => name?.toLowerCase().includes(text.toLowerCase()));
}

function documentOf({ eventId, sequence, kind, at, transfer }: FeedEvent) {
  return { eventId, sequence: Number(sequence), eventType: kind, at, transferId: transfer?.id ?? null };
}

async function transfersOfAmount(
  deps: Deps,
  institutionId: InstitutionId,
  { text, origin }: { readonly text: string; readonly origin: CommandOrigin },
): Promise<Page<FoundTransferRow>> {
  const parsed = parseDecimalAmount(text.replaceAll(',', ''));
  if ('invalid' in parsed) return none;
  const { currency } = await institutionOf(deps, institutionId);
  const minor = toMinor(parsed, currency);
  if (typeof minor !== 'bigint') return none;
  const filter = { leastMinor: minor, mostMinor: minor };
  const page = { limit: most, after: null };
  return searchTransfers(deps, institutionId, { filter, page, origin });
}
