import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { CompiledFiles, WebFile } from './compile.ts';

export interface WebFiles {
  /** A part of each address, so that browsers may keep the files forever. */
  readonly version: string;
  /** By the rest of the address. */
  readonly files: ReadonlyMap<string, WebFile>;
}

/** The public name of each package that browsers may import by its bare name, beside the client library. */
export const packages: ReadonlyMap<string, string> = new Map([
  ['preact', 'packages/preact.js'],
  ['preact/hooks', 'packages/preact-hooks.js'],
  ['@preact/signals-core', 'packages/signals-core.js'],
  ['@preact/signals', 'packages/signals.js'],
  ['htm', 'packages/htm.js'],
]);

let loading: Promise<WebFiles> | undefined;

/** Compiles the files at the first request for one of them, so that a service without visitors pays nothing. */
export function webFiles(): Promise<WebFiles> {
  loading ??= load().catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(): Promise<WebFiles> {
  const worker = new Worker(new URL('./compile.ts', import.meta.url), { workerData: packages });
  const [{ version, files }] = (await once(worker, 'message')) as [CompiledFiles];
  return { version, files: new Map(files.map((file) => [file.name, file])) };
}
