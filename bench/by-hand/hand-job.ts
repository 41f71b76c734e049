import type { SocketConnection } from '../../src/storage/index.ts';

export interface HandJob {
  /** Path of the script, in pgbench's language. */
  readonly script: string;
  readonly connection: SocketConnection;
  /** Start-up options of each connection. */
  readonly options: string;
  readonly clients: number;
  readonly seconds: number;
  readonly accounts: number;
  /** Every transfer leaves the first account. */
  readonly hot: boolean;
}

export interface HandResult {
  readonly perSecond: number;
  /** Mean duration of a transaction. */
  readonly millis: number;
}
