import type { NewCookies } from '../../auth/index.ts';
import type { InstitutionId } from '../../institutions/index.ts';

/** Browsers keep a cookie no longer. */
const browserSeconds = 400 * 24 * 60 * 60;

/**
 * The cookies of the sign-in pages. Over https their names begin with `__Host-`, so that no other host of the same domain can plant
 * one (RFC 6265bis section 4.1.3). Over http, which the pages serve on the loopback address only, browsers refuse that prefix.
 */
export class Cookies {
  readonly #prefix: string;
  readonly #attributes: string;

  constructor(publicUrl: string) {
    const isSecure = publicUrl.startsWith('https:');
    this.#prefix = isSecure ? '__Host-' : '';
    // Lax: the session comes along when an app sends its member here, and never with a form of another site.
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  }

  browser(header: string | undefined): string | undefined {
    return valuesOf(header).get(`${this.#prefix}browser`);
  }

  session(header: string | undefined, institutionId: InstitutionId): string | undefined {
    return valuesOf(header).get(this.#sessionName(institutionId));
  }

  /** The institutions at which the browser has a session's cookie. */
  institutions(header: string | undefined): InstitutionId[] {
    const start = `${this.#prefix}session-`;
    return [...valuesOf(header).keys()]
      .filter((name) => name.startsWith(start) && /^[0-9]{1,9}$/.test(name.slice(start.length)))
      .map((name) => Number(name.slice(start.length)) as InstitutionId);
  }

  /** Values of `Set-Cookie`. A session's cookie ends when the browser closes; the browser's own stays, and makes it a known device. */
  toSet({ browser, session }: NewCookies): string[] {
    const set = (name: string, value: string | null) =>
      value === null ? `${name}=; Max-Age=0; ${this.#attributes}` : `${name}=${value}; ${this.#attributes}`;
    return [
      ...(browser === undefined
        ? []
        : [`${set(`${this.#prefix}browser`, browser)}; Max-Age=${browserSeconds}`]),
      ...(session === undefined ? [] : [set(this.#sessionName(session.institutionId), session.secret)]),
    ];
  }

  #sessionName(institutionId: InstitutionId): string {
    return `${this.#prefix}session-${institutionId}`;
  }
}

/** A name that comes twice counts as absent: one of the two was planted by another path or host. */
export function valuesOf(header: string | undefined): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    const name = pair.slice(0, equals).trim();
    if (equals === -1) continue;
    if (values.has(name)) repeated.add(name);
    values.set(name, pair.slice(equals + 1).trim());
  }
  for (const name of repeated) values.delete(name);
  return values;
}
