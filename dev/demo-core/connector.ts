import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Instruction, type Line, toDecimal } from './books.ts';
import type { Core } from './core.ts';
import type { Switches } from './faults.ts';
import { type Random, shuffled } from './random.ts';
import { NoAnswerError, type Service } from './service.ts';

/*
 * The work of a connector, in two loops that know nothing of each other:
 *
 *   instructions   ask for them, let the core decide each once, report the outcomes that are not reported yet
 *   lines          send the core's records and then its lines in order, keep how far the service has answered them; once a day send the
 *                  balances, ask for the breaks that they opened, and send the postings again that the service misses
 *
 * Nothing is remembered here. The journal knows the decided, reported and delivered numbers, so both loops go on from there after a
 * crash. The service takes everything twice.
 */

const door = '/digitalbanking/core/v1';
const linesAtOnce = 2_000;
const reportsAtOnce = 8;
const waitSeconds = 20;
const pauseMillis = 500;
const longestPauseMillis = 4_000;

/** Refusals that end by themselves: the line is sent again. */
const passing = new Set(['transfer_not_found', 'transfer_not_completed']);

/** Codes of a last answer that is the end of the delivery, not a refusal of its line. */
const ending = new Set([
  'truncated',
  'request_timeout',
  'shutting_down',
  'overloaded',
  'database_unavailable',
  'outcome_unknown',
  'invalid_token',
  'internal_error',
]);

export interface ConnectorOptions {
  readonly core: Core;
  readonly service: Service;
  readonly switches: Switches;
  readonly random: Random;
  readonly note: (event: string, facts?: object) => void;
  /** Between two looks at the core's own lines. */
  readonly tickMillis: number;
}

export class Connector {
  readonly #options: ConnectorOptions;
  #isStopping = false;
  /** Lines up to this number were seen by this process: the lost ones among them stay lost, the others arrive. */
  #seenUpTo: number;
  /** While the switch `loses` is on. */
  #postingsSeen = 0;
  readonly #lost = new Set<number>();

  constructor(options: ConnectorOptions) {
    this.#options = options;
    this.#seenUpTo = options.core.books.deliveredUpTo;
  }

  /** Runs until `stop`. Rejects if the journal cannot be written. */
  async run(): Promise<void> {
    const { tickMillis } = this.#options;
    await Promise.all([
      this.#repeat('instructions', 0, () => this.takeInstructions(waitSeconds)),
      this.#repeat('lines', tickMillis, () => this.deliver()),
    ]);
  }

  stop(): void {
    this.#isStopping = true;
  }

  /** Reports the outcomes that are left, asks for instructions, and reports theirs. */
  async takeInstructions(wait: number): Promise<void> {
    const { core, service, switches } = this.#options;
    await this.#report();
    const { status, text } = await service.send({
      method: 'GET',
      path: `${door}/instructions?limit=200&wait=${wait}`,
      patienceSeconds: wait + 15,
    });
    if (status !== 200) throw new NoAnswerError(`instructions: ${status} ${text}`);
    const instructions = JSON.parse(text) as Instruction[];
    const isRefused = ({ id }: Instruction) =>
      switches.isOn('rejects') && id.charCodeAt(id.length - 1) % 3 === 0;
    await core.decide(instructions, isRefused);
    // An instruction may come again before its outcome is reported.
    if (switches.isOn('duplicates')) await core.decide(instructions, isRefused);
    await this.#report();
  }

  /** Sends the next records, then the next lines, which may be on the accounts that the records open, then balances that are due. */
  async deliver(): Promise<void> {
    await this.#deliverRecords();
    await this.#deliverLines();
    await this.#compare();
  }

  /** Sends the next records. A record that the service refuses is noted: a person must look. */
  async #deliverRecords(): Promise<void> {
    const { core, note } = this.#options;
    for (;;) {
      const records = core.unannounced(linesAtOnce);
      if (records.length === 0) return;
      // The newest record of a person counts, by its time: one that a repeated delivery sends again changes nothing.
      const { answers } = await this.#send('records', records);
      const refused: Record<number, string> = {};
      let answered = 0;
      for (const { line: place = 0, result, code = '' } of answers) {
        if (place !== answered + 1 || ending.has(code)) break;
        answered = place;
        if (result === 'refused') refused[core.books.announcedUpTo + place] = code;
      }
      if (answered === 0) return;
      const news = Object.keys(refused).length > 0;
      if (news) note('records_refused', { refused });
      await core.announced({ upTo: core.books.announcedUpTo + answered, ...(news && { refused }) });
    }
  }

  /** Sends the next lines. Returns when the service has answered them. */
  async #deliverLines(): Promise<void> {
    const { core, switches, random, note } = this.#options;
    for (;;) {
      const waiting = core.undelivered(linesAtOnce);
      // The service knows a transfer as completed when it has the outcome. The echo comes after it.
      // It knows an account when it has the record of it.
      const isReady = ({ accountId, transferId }: Line) =>
        core.books.isAnnounced(accountId) &&
        (transferId === undefined || !core.books.unreported.has(transferId) || switches.isOn('out-of-order'));
      let sent = waiting.filter(({ line }) => isReady(line));
      if (sent.length === 0) return;
      const upTo = waiting.at(-1)?.number ?? 0;
      this.#lose(sent);
      const lost = new Set(waiting.map(({ number }) => number).filter((number) => this.#lost.has(number)));
      sent = sent.filter(({ number }) => !lost.has(number));
      if (switches.isOn('duplicates')) sent = sent.flatMap((one) => (random(4) === 0 ? [one, one] : [one]));
      if (switches.isOn('out-of-order')) sent = shuffled(random, sent);
      const { answers } = await this.#send(
        'transactions',
        sent.map(({ line }) => line),
      );

      const done = new Set(lost);
      const refused: Record<number, string> = {};
      for (const { line: place = 0, result, code = '' } of answers) {
        const number = sent[place - 1]?.number;
        if (number === undefined || (result === 'refused' && passing.has(code))) continue;
        done.add(number);
        if (result === 'refused' || result === 'conflict') refused[number] = code;
      }
      const again = waiting.map(({ number }) => number).filter((number) => !done.has(number));
      const news = Object.keys(refused).length > 0;
      if (news) note('lines_refused', { codes: [...new Set(Object.values(refused))], refused });
      await core.delivered({
        upTo: Math.max(upTo, core.books.deliveredUpTo),
        again,
        ...(news && { refused }),
        ...(lost.size > 0 && { lost: [...lost] }),
      });
      if (done.size === 0) return;
    }
  }

  /** By the switch, the first new posting and every third after it are lost. An echo is not: the outcome says the same. */
  #lose(sent: readonly { readonly number: number; readonly line: Line }[]): void {
    for (const { number, line } of sent) {
      if (number <= this.#seenUpTo) continue;
      this.#seenUpTo = number;
      const isPosting = line.status === undefined && line.transferId === undefined;
      if (!this.#options.switches.isOn('loses') || !isPosting) continue;
      if (this.#postingsSeen % 3 === 0) this.#lost.add(number);
      this.#postingsSeen += 1;
    }
  }

  /** Sends the balances that are due, with the list of postings since the last comparison. The service names the differences. */
  async #compare(): Promise<void> {
    const { core, note } = this.#options;
    const due = await core.comparisonDue();
    if (due === undefined) return;
    const { asOf, since } = due;
    const { accounts } = core.books;
    const balances = [...core.books.balancesAt(asOf)].map(([accountId, cents]) => {
      const { currencyCode } = accounts.get(accountId) ?? { currencyCode: '' };
      return { accountId, balance: toDecimal(cents), currencyCode };
    });
    const postings = core.books
      .postingsBetween(since, asOf)
      .map(({ id, accountId, amount, currencyCode }) => ({
        transactionId: id,
        accountId,
        amount,
        currencyCode,
      }));
    const query = new URLSearchParams({
      asOf: asOf.toISOString(),
      since: since.toISOString(),
      complete: 'true',
    });
    const { summary } = await this.#send(`balances?${query}`, [...balances, ...postings]);
    if (summary === undefined) throw new NoAnswerError('the balances were not compared');
    note('balances_compared', { asOf, ...summary });
    await this.#sendMissing();
    await core.compared(asOf);
  }

  /** Sends the postings again that the service names as missing. */
  async #sendMissing(): Promise<void> {
    const { core, service, note } = this.#options;
    const byId = new Map(core.books.lines.map((line) => [line.id, line]));
    for (let page = `${door}/breaks?class=MISSING_HERE&limit=200`; page !== ''; ) {
      const { status, text, next = '' } = await service.send({ method: 'GET', path: page });
      if (status !== 200) throw new NoAnswerError(`breaks: ${status} ${text}`);
      const breaks = JSON.parse(text) as { readonly transactionId?: string | null }[];
      const missing = breaks.flatMap(({ transactionId }) => byId.get(transactionId ?? '') ?? []);
      if (missing.length > 0) {
        await this.#send('transactions', missing);
        note('missing_sent', { count: missing.length });
      }
      page = next;
    }
  }

  /** The answers to the lines, and the summary unless the delivery ended early. */
  async #send(
    what: 'transactions' | 'records' | `balances?${string}`,
    lines: readonly object[],
  ): Promise<{ readonly answers: LineAnswer[]; readonly summary: object | undefined }> {
    const { service, switches, note } = this.#options;
    const body = await promisify(gzip)(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const request = {
      method: 'POST',
      path: `${door}/${what}`,
      body,
      headers: { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' },
      patienceSeconds: 120,
    } as const;
    if (switches.isOn('duplicates')) await service.send(request);
    const { status, text } = await service.send(request);
    if (status !== 200) throw new NoAnswerError(`${what}: ${status} ${text}`);
    const answers = text
      .split('\n')
      .filter((answer) => answer !== '')
      .map((answer) => JSON.parse(answer) as LineAnswer);
    const last = answers.pop();
    // Without its summary the delivery ended early, and the last line is the reason.
    if (last?.summary === undefined) note('delivery_ended_early', { ...last });
    return { answers, summary: last?.summary };
  }

  async #report(): Promise<void> {
    const { core } = this.#options;
    const ids = [...core.books.unreported];
    const reported: string[] = [];
    let failure: unknown;
    const reporting = Array.from({ length: reportsAtOnce }, async () => {
      for (let id = ids.shift(); id !== undefined && failure === undefined; id = ids.shift()) {
        try {
          if (await this.#reportOne(id)) reported.push(id);
        } catch (error) {
          failure = error;
        }
      }
    });
    await Promise.all(reporting);
    if (reported.length > 0) await core.reported(reported);
    if (failure !== undefined) throw failure;
  }

  async #reportOne(id: string): Promise<boolean> {
    const { core, service, switches, note } = this.#options;
    const request = {
      method: 'POST',
      path: `${door}/instructions/${encodeURIComponent(id)}/outcome`,
      body: JSON.stringify(core.outcomeOf(id)),
      headers: { 'content-type': 'application/json' },
    } as const;
    if (switches.isOn('duplicates')) await service.send(request);
    const { status, text } = await service.send(request);
    if (status === 200) return true;
    if (status === 404 || status === 409) {
      // An operator must look: the two systems disagree about this transfer.
      note('outcome_refused', { id, status, text });
      return true;
    }
    throw new NoAnswerError(`outcome of ${id}: ${status} ${text}`);
  }

  async #repeat(what: string, idleMillis: number, once: () => Promise<void>): Promise<void> {
    let failures = 0;
    while (!this.#isStopping) {
      try {
        await once();
        failures = 0;
        await sleep(idleMillis);
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error;
        failures += 1;
        if (failures === 1) this.#options.note('no_answer', { loop: what, why: error.message });
        await sleep(Math.min(pauseMillis * failures, longestPauseMillis));
      }
    }
  }
}

interface LineAnswer {
  readonly line?: number;
  readonly result?: string;
  readonly code?: string;
  readonly summary?: object;
}
