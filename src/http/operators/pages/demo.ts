import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { type OperatorDeps, signInToDemo } from '../../../operators/index.ts';
import { Problem } from '../../../shared/problem.ts';
import { plainAddress } from '../../request/address/address.ts';
import { fieldsOf, fromOf } from './page.ts';

/** Problem `not_found` for a browser elsewhere. */
export async function beginDemo(
  deps: OperatorDeps,
  request: FastifyRequest,
  publicUrl: string,
): Promise<string> {
  if (!isOnThisMachine(request, publicUrl)) throw new Problem('not_found', 'There is no such demo.');
  const { institution = '', name = '' } = fieldsOf(request);
  return signInToDemo(deps, { institution, name }, fromOf(request));
}

const namesOfThisMachine = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Whether the browser and the address of the service are both on this machine. A proxy on the same machine makes every peer look local, so
 * the public address counts too. So does the address that the browser shows: the name of another site may lead to this machine, and its
 * pages could read the response (DNS rebinding).
 */
export function isOnThisMachine(request: FastifyRequest, publicUrl: string): boolean {
  const peer = plainAddress(request.socket.remoteAddress);
  const isLocal = (address: string | null) =>
    address !== null && isIP(address) !== 0 && (address === '::1' || address.startsWith('127.'));
  const shown = request.headers.host?.replace(/:[0-9]*$/, '') ?? '';
  return (
    [new URL(publicUrl).hostname, shown].every((name) => namesOfThisMachine.includes(name)) &&
    isLocal(peer) &&
    isLocal(request.callerAddress)
  );
}
