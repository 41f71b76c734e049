// Keeps the shell of the app, so that an installed app opens without a network: the document and the files under their version. No response of
// an API is ever kept, since a balance of yesterday is a wrong balance. The service writes the constant `version` before this text.
declare const version: string;

/** A worker's global scope, as far as this one uses it. */
interface WorkerScope {
  readonly registration: { readonly scope: string };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: string, listener: (event: WorkerEvent) => void): void;
}
interface WorkerEvent {
  readonly request: Request;
  waitUntil(work: Promise<unknown>): void;
  respondWith(response: Promise<Response>): void;
}

const worker = self as unknown as WorkerScope;
const shell = `shell ${version}`;

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));

worker.addEventListener('activate', (event) => event.waitUntil(replaceOld()));

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (pathname.startsWith('/web/')) event.respondWith(keptFirst(request));
  else if (request.mode === 'navigate') event.respondWith(networkFirst(request));
});

async function replaceOld(): Promise<void> {
  for (const name of await caches.keys()) if (name !== shell) await caches.delete(name);
  await worker.clients.claim();
}

/** An address with a version has one content forever. */
async function keptFirst(request: Request): Promise<Response> {
  const cache = await caches.open(shell);
  const kept = await cache.match(request);
  if (kept !== undefined) return kept;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}

/** The query of a return from the sign-in page holds a code, so the document is kept under its path alone. */
async function networkFirst(request: Request): Promise<Response> {
  const cache = await caches.open(shell);
  const { origin, pathname } = new URL(request.url);
  try {
    const response = await fetch(request);
    if (response.ok && !response.redirected) await cache.put(origin + pathname, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(origin + pathname);
    if (kept === undefined) throw error;
    return kept;
  }
}
