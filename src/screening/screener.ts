import { seams } from '../shared/seams.ts';
import type { InstitutionId } from '../storage/index.ts';
import {
  type AskScreening,
  formatMinor,
  type ScreenedOrder,
  type Screening,
  type Verdict,
  verdicts,
} from '../transfers/index.ts';
import { Sender, signatureHeaders } from '../webhooks/index.ts';
import { type ScreeningDeps, secretPurpose } from './change-hook.ts';
import { Circuit } from './circuit.ts';
import { type Hook, selectHook } from './hook-queries.ts';
import { rulesOf } from './target-rules.ts';

/** Questions to one institution at once. An order beyond them gets the verdict for those without an answer. */
const mostAsked = 256;
const mostSockets = 64;

interface Question {
  readonly order: ScreenedOrder;
  /** The order is invented. */
  readonly isTest?: boolean;
}

/** The outcome of one question: an answer, or a word for its absence. */
interface Tried {
  readonly answer?: Answer;
  readonly error?: string;
  readonly millis: number;
}

const inventedOrder: Omit<ScreenedOrder, 'currencyCode'> = {
  transferId: 'screening-test',
  transferType: 'STANDARD',
  fromAccountId: 'screening-test-from',
  toAccountId: 'screening-test-to',
  amountMinor: 100n,
  memo: null,
  isBetweenMembers: false,
  clientId: 'screening-test',
  userId: null,
  origin: { transactionId: 'screening-test', address: null },
};

interface Line {
  readonly sender: Sender;
  readonly circuit: Circuit;
  asked: number;
}

/** Asks the hooks of institutions for their verdicts. */
export class Screener {
  readonly #deps: ScreeningDeps & { readonly log: (event: string, details: object) => void };
  readonly #lines = new Map<InstitutionId, Line>();

  constructor(deps: ScreeningDeps & { readonly log: (event: string, details: object) => void }) {
    this.#deps = deps;
  }

  /** Rejects only if the database cannot be read. Then the order is not decided either. */
  readonly ask: AskScreening = async (institutionId, order) => {
    const hook = await this.#deps.database.read(institutionId, selectHook);
    // It was removed a moment ago.
    if (hook === undefined)
      return { verdict: 'APPROVE', answer: 'NOT_ASKED', reference: null, askedMillis: null };
    const { answer, millis: askedMillis } = await this.#answerOf(institutionId, hook, { order });
    const screening: Screening =
      answer === undefined
        ? { verdict: hook.onSilence, answer: 'SILENT', reference: null, askedMillis }
        : { ...answer, answer: 'ANSWERED', askedMillis };
    seams.screening.publish({ verdict: screening.verdict, answer: screening.answer });
    return screening;
  };

  /** Asks about an invented order; undefined if the institution screens none. */
  async try(institutionId: InstitutionId, currencyCode: string): Promise<Tried | undefined> {
    const hook = await this.#deps.database.read(institutionId, selectHook);
    return (
      hook && this.#answerOf(institutionId, hook, { order: { ...inventedOrder, currencyCode }, isTest: true })
    );
  }

  close(): void {
    for (const { sender } of this.#lines.values()) sender.close();
  }

  async #answerOf(institutionId: InstitutionId, hook: Hook, question: Question): Promise<Tried> {
    const startedAt = performance.now();
    const ended = (part: Omit<Tried, 'millis'>): Tried => {
      return { ...part, millis: Math.round(performance.now() - startedAt) };
    };
    const line = await this.#lineOf(institutionId);
    if (line.asked >= mostAsked) return ended({ error: 'too_many_questions' });
    // A person who tries the hook learns of its answer now, and so does the circuit.
    if (question.isTest !== true && !line.circuit.mayAsk()) return ended({ error: 'paused' });
    line.asked += 1;
    try {
      const at = this.#deps.clock();
      const body = bodyOf(question, at);
      const id = question.order.transferId;
      const headers = signatureHeaders({ id, at, body }, this.#secretsOf(hook, at));
      const { url, timeoutMillis: deadlineMillis } = hook;
      const posted = await line.sender.post({ url, headers, body, deadlineMillis });
      const answer = posted.error === undefined ? readAnswer(posted.body) : undefined;
      const error = posted.error ?? 'no_verdict';
      if (line.circuit.note(answer !== undefined)) {
        if (answer === undefined) this.#deps.log('screening_silent', { institutionId, error });
        else this.#deps.log('screening_answers', { institutionId });
      }
      return ended(answer === undefined ? { error } : { answer });
    } finally {
      line.asked -= 1;
    }
  }

  async #lineOf(institutionId: InstitutionId): Promise<Line> {
    const known = this.#lines.get(institutionId);
    if (known !== undefined) return known;
    const rules = await rulesOf(this.#deps, institutionId);
    // Another order may have opened it meanwhile.
    const line = this.#lines.get(institutionId) ?? {
      sender: new Sender(rules, { kind: 'screening', mostSockets }),
      circuit: new Circuit(),
      asked: 0,
    };
    this.#lines.set(institutionId, line);
    return line;
  }

  #secretsOf({ sealedSecret, sealedPrevious, previousUntil }: Hook, at: Date) {
    const isPreviousValid = sealedPrevious !== null && previousUntil !== null && previousUntil > at;
    const sealed = isPreviousValid ? [sealedSecret, sealedPrevious] : [sealedSecret];
    return sealed.map((secret) => ({ secret: this.#deps.vault.open(secretPurpose, secret) }));
  }
}

type Answer = Pick<Screening, 'verdict' | 'reference'>;

/** Undefined unless it is JSON with a verdict. A reference that cannot be kept does not spoil the verdict. */
function readAnswer(body: Buffer): Answer | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { verdict: word, reference } = answer as { readonly verdict?: unknown; readonly reference?: unknown };
  const verdict = verdicts.find((one: Verdict) => one.toLowerCase() === word);
  if (verdict === undefined) return undefined;
  const isKept = typeof reference === 'string' && /^[ -~]{1,100}$/.test(reference);
  return { verdict, reference: isKept ? reference : null };
}

function bodyOf({ order, isTest = false }: Question, at: Date): string {
  const { transferId, transferType, fromAccountId, toAccountId, amountMinor, currencyCode, memo } = order;
  const { isBetweenMembers, clientId, userId, origin } = order;
  const data = {
    ...{ transferId, transferType, fromAccountId, toAccountId },
    amount: formatMinor(amountMinor, currencyCode),
    ...{ currencyCode, memo, isBetweenMembers, clientId, userId },
    requestId: origin.transactionId,
    callerAddress: origin.address,
    isTest,
  };
  return JSON.stringify({ type: 'transfer.screening', timestamp: at.toISOString(), data });
}
