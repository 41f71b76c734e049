// A worker thread that reads, compiles and compresses the files of the browser applications, posts them, and ends. Requests on the main thread
// do not wait for it.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';

/** A file as browsers get it. */
export interface WebFile {
  /** Its name below `/web/<version>/`: `web/app/main.ts`, `packages/preact.js`. */
  readonly name: string;
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly gzipped: Uint8Array;
  /** The specifiers of its static imports: `../design/html.ts`, `preact`. A screen that `import()` names is none of them. */
  readonly imports: readonly string[];
}

export interface CompiledFiles {
  /** Hash of all sources. */
  readonly version: string;
  readonly files: readonly WebFile[];
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** Folders whose files are public, all of them. */
const folders = ['web', 'client/src'];

const contentTypes: Readonly<Record<string, string>> = {
  '.ts': 'text/javascript; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

// Node calls the function below experimental, and says so once in each process.
process.removeAllListeners('warning');
parentPort?.postMessage(compile(workerData as ReadonlyMap<string, string>));

/** `packages` has the public name of each package. */
function compile(packages: ReadonlyMap<string, string>): CompiledFiles {
  const hash = createHash('sha256');
  const files = list(packages).map(([name, file]) => {
    const source = readFileSync(file);
    hash.update(`${name}\0${source.length}\0`).update(source);
    return compiled(name, source);
  });
  return { version: hash.digest('base64url').slice(0, 16), files };
}

/** Pairs of a public name and a path, in the order of the names. */
function list(packages: ReadonlyMap<string, string>): [string, string][] {
  const found = folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true }).map(
      ({ parentPath, name }) => path.join(parentPath, name),
    ),
  );
  const own = found
    .filter((file) => path.extname(file) in contentTypes)
    .map((file): [string, string] => [path.relative(root, file).split(path.sep).join('/'), file]);
  const foreign = [...packages].map(([specifier, name]): [string, string] => [
    name,
    fileURLToPath(import.meta.resolve(specifier)),
  ]);
  return [...own, ...foreign].toSorted(([left], [right]) => (left < right ? -1 : 1));
}

function compiled(name: string, source: Buffer): WebFile {
  const extension = path.extname(name);
  const body = extension === '.ts' ? Buffer.from(codeOf(source.toString())) : source;
  return {
    name,
    contentType: contentTypes[extension] ?? '',
    body,
    gzipped: gzipSync(body, { level: 9 }),
    imports: extension === '.css' ? [] : importsOf(body.toString()),
  };
}

/** Biome writes each import at the beginning of a line; packages are minified. */
function importsOf(code: string): string[] {
  const found = code.matchAll(/(?:^|[;}])\s*(?:import|export)\b(?:[^'"();]*?\bfrom)?\s*["']([^'"]+)["']/gm);
  return [...found].map(([, specifier = '']) => specifier);
}

/**
 * Types become spaces, so that lines and columns in a browser are those of the source. A module of types alone becomes empty: no other one
 * imports it.
 */
function codeOf(source: string): string {
  const code = stripTypeScriptTypes(source);
  const isEmpty = code.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '').trim() === '';
  return isEmpty ? '' : code;
}
