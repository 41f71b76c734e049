import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { relyingPartyOf } from '../../../auth/index.ts';
import {
  answerDevice,
  DeviceError,
  deviceClientId,
  findDevice,
  originOf,
  pollDevice,
  type SignedInOperator,
  signOut,
  startDevice,
} from '../../../operators/index.ts';
import { Problem } from '../../../shared/problem.ts';
import { requestOrigin } from '../register.ts';
import {
  fieldsOf,
  fromOf,
  type OperatorView,
  type PageDeps,
  paths,
  redirectTo,
  sendPage,
  signedInOperator,
  signInFirst,
} from './page.ts';
import { deviceCodeView, deviceDoneView, deviceView } from './views.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:device_code';

/** Device authorization of the command line (RFC 8628): its two requests, and the pages of the operator. */
export function registerDevicePages(scope: FastifyInstance, page: PageDeps): void {
  const { deps, publicUrl } = page;
  scope.post(paths.deviceAuthorization, (request, reply) =>
    answerClient(reply, async () => {
      const { client_id: clientId, institution = '', machine = '' } = fieldsOf(request);
      if (clientId !== deviceClientId) throw new DeviceError('invalid_client');
      const started = await startDevice(deps, { institution, machine }, requestOrigin(request));
      const uri = `${relyingPartyOf(publicUrl).origin}${paths.device}`;
      return {
        device_code: started.deviceCode,
        user_code: started.userCode,
        verification_uri: uri,
        verification_uri_complete: `${uri}?user_code=${started.userCode}`,
        expires_in: started.expiresIn,
        interval: started.interval,
      };
    }),
  );
  scope.post(paths.token, (request, reply) =>
    answerClient(reply, async () => {
      const { client_id: clientId, grant_type: grant, device_code: deviceCode = '' } = fieldsOf(request);
      if (clientId !== deviceClientId) throw new DeviceError('invalid_client');
      if (grant !== grantType) throw new DeviceError('unsupported_grant_type');
      const { secret } = await pollDevice(deps, deviceCode, fromOf(request));
      return { access_token: secret, token_type: 'Bearer', expires_in: 12 * 60 * 60 };
    }),
  );
  scope.post(paths.endSession, async (request, reply) => {
    const operator = await signedInOperator(page, request);
    await signOut(deps, operator, originOf(operator, requestOrigin(request)));
    return reply.code(204).send();
  });
  scope.get(paths.device, (request, reply) =>
    answerOperator(page, { request, reply }, async () => {
      const { user_code: code } = request.query as { user_code?: unknown };
      return deviceCodeView(typeof code === 'string' ? { code } : {});
    }),
  );
  scope.post(paths.device, (request, reply) =>
    answerOperator(page, { request, reply }, async (operator) => {
      const { code = '' } = fieldsOf(request);
      const device = await findDevice(deps, operator, code);
      return device === undefined ? deviceCodeView({ isUnknown: true }) : deviceView(operator.name, device);
    }),
  );
  scope.post(paths.decideDevice, (request, reply) =>
    answerOperator(page, { request, reply }, async (operator) => {
      const { request: sealed = '', answer } = fieldsOf(request);
      const isApproved = answer === 'approve';
      const origin = originOf(operator, requestOrigin(request));
      const isDone = await answerDevice(deps, operator, { request: sealed, isApproved, origin });
      return isDone ? deviceDoneView(isApproved) : deviceCodeView({ isUnknown: true });
    }),
  );
}

/** JSON of RFC 6749 section 5; no response is kept by a cache. */
async function answerClient(reply: FastifyReply, work: () => Promise<object>): Promise<FastifyReply> {
  reply.type('application/json').header('cache-control', 'no-store');
  try {
    return reply.send(JSON.stringify(await work()));
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    const status =
      error.code === 'temporarily_unavailable' ? 503 : error.code === 'invalid_client' ? 401 : 400;
    return reply.code(status).send(JSON.stringify({ error: error.code }));
  }
}

async function answerOperator(
  page: PageDeps,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  work: (operator: SignedInOperator) => Promise<OperatorView>,
): Promise<FastifyReply> {
  try {
    return sendPage(reply, await work(await signedInOperator(page, request)));
  } catch (error) {
    if (!(error instanceof Problem) || !signInFirst.has(error.code)) throw error;
    return redirectTo(reply, `${paths.signIn}?next=${paths.device}`);
  }
}
