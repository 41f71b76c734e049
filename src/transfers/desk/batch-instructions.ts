import { nameOf } from '../../events/index.ts';
import { businessDate } from '../../institutions/index.ts';
import type { InstitutionId, Write } from '../../storage/index.ts';
import {
  type DecidedInstruction,
  decideInstructions,
  type Instruction,
  type IssuedInstruction,
  insertInstructions,
} from '../instructions/instruction-queries.ts';
import type { CoreMode } from '../rules/controls/core-path.ts';
import type { Facts } from '../rules/facts.ts';
import type { CoreAct, Transfer } from '../rules/transfer.ts';
import type { TransferRow } from '../transfer-queries.ts';

/** The part of a commit that others wait for. */
export interface CoreChange {
  /** The core has something to do. */
  readonly hasIssued: boolean;
  /** The transfers that were pending and have ended. */
  readonly ended: readonly Transfer[];
}

/** The instructions to the core that a batch issues, decides and withdraws. */
export class BatchInstructions {
  readonly #facts: Facts;
  /** Issued by earlier batches, with the changes of this one. */
  readonly #known: Map<bigint, Instruction>;
  readonly #issued = new Map<bigint, IssuedInstruction>();
  readonly #decided: DecidedInstruction[] = [];

  constructor(known: readonly Instruction[], facts: Facts) {
    this.#facts = facts;
    this.#known = new Map(known.map((row) => [row.transferKey, row]));
  }

  /** The instruction of an earlier batch. The core cannot know one that this batch issues. */
  get(transferKey: bigint): Instruction | undefined {
    return this.#known.get(transferKey);
  }

  isWithCore(transferKey: bigint): boolean {
    const instruction = this.#known.get(transferKey);
    return instruction?.state === 'OPEN' && instruction.isDelivered;
  }

  isOpen(transferKey: bigint): boolean {
    return this.#issued.has(transferKey) || this.#known.get(transferKey)?.state === 'OPEN';
  }

  issue(transfer: TransferRow, mode: CoreMode): void {
    const { transferKey, fromKey, toKey, amountMinor, currencyCode } = transfer;
    if (fromKey === null || toKey === null)
      throw new Error('transfers: an instruction needs both accounts of its transfer');
    this.#issued.set(transferKey, {
      transferKey,
      mode,
      state: 'OPEN',
      businessDate: businessDate(this.#facts.at, this.#facts.settings.calendar),
      fromKey,
      toKey,
      amountMinor,
      currencyCode,
    });
  }

  /** The transfer ends without the core, which has not seen its instruction. */
  withdraw(transferKey: bigint): void {
    const issued = this.#issued.get(transferKey);
    if (issued !== undefined) this.#issued.set(transferKey, { ...issued, state: 'WITHDRAWN' });
    else if (this.#known.get(transferKey)?.state === 'OPEN')
      this.#decide({ ...unexplained, transferKey, state: 'WITHDRAWN' });
  }

  decide(transferKey: bigint, act: CoreAct): void {
    const { operator, transactionId } = act.origin;
    const reported = {
      ...unexplained,
      transferKey,
      decidedBy: act.clientId,
      decidedOperator: operator === undefined ? null : nameOf(operator),
      decidedRequest: transactionId,
    };
    this.#decide(
      act.kind === 'core_accepted'
        ? { ...reported, state: 'ACCEPTED', coreReference: act.coreReference }
        : { ...reported, state: 'REJECTED', refusalCode: act.code, refusalReason: act.reason },
    );
  }

  #decide(decided: DecidedInstruction): void {
    const { transferKey, state } = decided;
    const known = this.#known.get(transferKey);
    if (known?.state !== 'OPEN') throw new Error('transfers: an instruction is decided twice');
    this.#known.set(transferKey, { ...known, state });
    this.#decided.push(decided);
  }

  /** Whether the commit gives the core something to do. */
  get hasIssued(): boolean {
    return this.#issued.size > 0;
  }

  writes(institutionId: InstitutionId): readonly Write[] {
    const { at } = this.#facts;
    return [
      ...decideInstructions(institutionId, this.#decided, at),
      ...insertInstructions(institutionId, [...this.#issued.values()], at),
    ];
  }
}

const unexplained = {
  coreReference: null,
  refusalCode: null,
  refusalReason: null,
  decidedBy: null,
  decidedOperator: null,
  decidedRequest: null,
};
