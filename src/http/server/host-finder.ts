import type { FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { isHostName } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import { pathNotFound } from '../problems.ts';
import type { Services } from '../services.ts';

/** Operators of all institutions work at PUBLIC_URL. */
const pathsOfOperators = ['/operations', '/console'];

/**
 * Finds the institution whose host name a request names. The header `Host` alone counts, as the proxy in front sends it. The names
 * of the service itself, an address and a name of one label are no institution's, so such requests ask nobody.
 */
export function hostFinder(services: Pick<Services, 'at'>, ownUrls: readonly string[]) {
  const ownNames = ownUrls.map((url) => new URL(url).hostname);
  return (request: FastifyRequest, _reply: unknown, done: HookHandlerDoneFunction): void => {
    const name = nameOf(request.headers.host ?? '');
    // Probes work while the database is away.
    const isProbe = request.routeOptions.config.operation?.tag === 'Service';
    if (ownNames.includes(name) || isProbe || !isHostName(name)) {
      done();
      return;
    }
    services.at(name).then(
      (found) => {
        request.atHost = found ?? null;
        const isOfOperators = pathsOfOperators.some((path) => request.routeOptions.url?.startsWith(path));
        done(found !== undefined && isOfOperators ? pathNotFound() : undefined);
      },
      (error) => {
        const isElsewhere = error instanceof Problem && error.code === 'institution_elsewhere';
        // A request whose form tells its cell is sent on once the form is read, and else its client is refused alike.
        done(isElsewhere && request.cluesOfHead ? undefined : error);
      },
    );
  };
}

/** Without the port, and without the dot at the end of an absolute name; names are equal in any case (RFC 9110 section 4.2.3). */
function nameOf(host: string): string {
  return host.replace(/\.?(?::[0-9]*)?$/, '').toLowerCase();
}
