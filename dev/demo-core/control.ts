import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { toDecimal } from './books.ts';
import type { Core } from './core.ts';
import { type Fault, faultNames, faults, type Switches } from './faults.ts';

/*
 * The desk of the person who tries things, on the loopback only:
 *
 *   GET  /                  the clock, the switches, the lines and outcomes under way
 *   GET  /accounts          each account with its balance and holds
 *   PUT  /faults/slow       body: on or off
 *   PUT  /comparison        sends the balances now; GET / has `isComparing` until the service has compared them
 *
 * A page in a browser cannot switch anything: PUT needs a preflight, which gets no answer.
 */

/** Its address stands in FOLDER/control. */
export async function openControl(
  core: Core,
  switches: Switches,
  { folder, port }: { readonly folder: string; readonly port: number },
): Promise<{ readonly address: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    respond(core, switches, request).then(
      (answer) => send(response, answer),
      (error) => send(response, { status: 500, body: { error: String(error) } }),
    );
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await writeFile(path.join(folder, 'control'), `${address}\n`);
  return { address, close: () => close(server) };
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

async function respond(core: Core, switches: Switches, request: IncomingMessage): Promise<Answer> {
  const { method = '', url = '' } = request;
  if (method === 'GET' && url === '/') return { status: 200, body: statusOf(core, switches) };
  if (method === 'GET' && url === '/accounts') return { status: 200, body: accountsOf(core) };
  if (method === 'PUT' && url === '/comparison') {
    core.askForComparison();
    return { status: 202, body: statusOf(core, switches) };
  }
  const [, name] = /^\/faults\/([a-z-]+)$/.exec(url) ?? [];
  if (method !== 'PUT' || name === undefined) return { status: 404, body: { error: 'no such thing' } };
  if (!faultNames.includes(name as Fault)) return { status: 404, body: { faults } };
  const word = (await text(request)).trim();
  if (word !== 'on' && word !== 'off') return { status: 400, body: { error: 'the body is on or off' } };
  switches.set(name as Fault, word === 'on');
  return { status: 200, body: switches.toJSON() };
}

function statusOf(core: Core, switches: Switches): object {
  const { books } = core;
  return {
    time: core.time().toISOString(),
    seed: books.seed,
    faults: switches,
    lines: books.lines.length,
    undelivered: books.lines.length - books.deliveredUpTo + books.again.length,
    refused: Object.fromEntries(books.refused),
    records: books.records.length,
    unannounced: books.records.length - books.announcedUpTo,
    refusedRecords: Object.fromEntries(books.refusedRecords),
    decided: books.decided.size,
    unreported: books.unreported.size,
    lost: books.lost.size,
    isComparing: core.isComparing,
    compared: books.compared,
  };
}

function accountsOf(core: Core): object {
  return [...core.books.accounts.values()].map(({ accountId, balance, held, currencyCode }) => ({
    accountId,
    balance: toDecimal(balance),
    held: toDecimal(held),
    currencyCode,
  }));
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(body)}\n`);
}

async function close(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}
