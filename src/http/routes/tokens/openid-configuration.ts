import type { Operation } from '../../operation.ts';
import { authorizationServer } from './authorization-server.ts';

export const openidConfiguration: Operation = {
  ...authorizationServer,
  operationId: 'openidConfiguration',
  path: '/.well-known/openid-configuration',
  summary: 'Authorization server metadata, at the path of OpenID Connect',
  description:
    'The same document as `authorizationServer`. Spring, Nimbus, Authlib and go-oidc look for it here first.',
};
