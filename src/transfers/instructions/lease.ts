/** An undecided instruction, as far as its delivery depends on it. */
export interface UndecidedInstruction {
  readonly transferKey: bigint;
  readonly sequence: bigint;
  readonly fromKey: bigint;
  readonly toKey: bigint;
  readonly leasedBy: string | null;
  readonly leaseUntil: Date | null;
  /** An export file has it: it waits for the file's acknowledgement. */
  readonly isInFile: boolean;
}

export const leaseMillis = 60_000;

/** A client's request for instructions. */
export interface LeaseRequest {
  readonly clientId: string;
  readonly at: Date;
  /** The last sequence that the client has; those up to it that it still leases are renewed, and not sent again. */
  readonly after: bigint;
  readonly limit: number;
}

/**
 * Walks the undecided instructions in order, and picks those that a client gets. An instruction is passed over if another
 * client works on it, or on an earlier one of its accounts. So two clients never work on one account, and each account's
 * instructions reach the core in order.
 */
export class LeaseWalk {
  readonly #request: LeaseRequest;
  readonly #blocked = new Set<bigint>();
  readonly renewed: bigint[] = [];
  readonly given: bigint[] = [];

  constructor(request: LeaseRequest) {
    this.#request = request;
  }

  get isFull(): boolean {
    return this.given.length >= this.#request.limit;
  }

  take(instruction: UndecidedInstruction): void {
    const { transferKey, sequence, fromKey, toKey } = instruction;
    const { clientId, after } = this.#request;
    const isLeased = this.#isLeased(instruction);
    const isOurs = isLeased && instruction.leasedBy === clientId;
    const isElsewhere = instruction.isInFile || (isLeased && !isOurs);
    if (isElsewhere || this.#blocked.has(fromKey) || this.#blocked.has(toKey)) {
      this.#blocked.add(fromKey).add(toKey);
      return;
    }
    if (isOurs && sequence <= after) this.renewed.push(transferKey);
    else this.given.push(transferKey);
  }

  /** A lease that ends later than any could was given by a clock that had jumped. It does not count. */
  #isLeased({ leaseUntil }: UndecidedInstruction): boolean {
    const { at } = this.#request;
    return leaseUntil !== null && leaseUntil > at && leaseUntil.getTime() <= at.getTime() + leaseMillis;
  }
}
