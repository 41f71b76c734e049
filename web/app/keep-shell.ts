/** Trusted Types (W3C), as far as this app uses them. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(): string }): { createScriptURL(text: string): string };
}

const address = '/app/worker.js';

/** Registers the worker that keeps the shell. The policy of the page allows this one address as a script, and no other text. */
export async function keepShell(): Promise<void> {
  const { trustedTypes } = window as unknown as { readonly trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy('worker', { createScriptURL: () => address });
  const url = policy?.createScriptURL(address) ?? address;
  await navigator.serviceWorker?.register(url, { scope: location.pathname });
}
