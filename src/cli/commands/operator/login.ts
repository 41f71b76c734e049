import { setTimeout } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { loadConfig, readEnvironment } from '../../../app/config.ts';
import { deviceClientId } from '../../../operators/index.ts';
import { CommandError, institutionOption, say } from '../../command.ts';
import { forgetSession, keepSession, readKeptSession, sessionFile } from '../../kept-session.ts';
import { systemOperator } from '../../operator.ts';

interface LoginOptions {
  readonly server?: string;
  readonly institution: string;
}

/** `sharedraft login`, `logout` and `whoami`. */
export function loginCommands(): Command[] {
  return [
    new Command('login')
      .description('sign in as an operator, with a browser on any machine; the session is kept for 12 hours')
      .requiredOption(...institutionOption)
      .option('--server <url>', 'the address of the service (PUBLIC_URL)', readServer)
      .action(async ({ server, institution }: LoginOptions) => {
        const { config } = loadConfig(await readEnvironment());
        const { user, host } = systemOperator(config);
        const asked = {
          server: server ?? readServer(config.publicUrl),
          institution,
          machine: `${user} on ${host}`,
        };
        const { name } = await logIn(asked, { file: sessionFile(), show: say });
        say(`Signed in as ${name}.`);
      }),
    new Command('logout').description('end the kept session').action(async () => {
      const file = sessionFile();
      const kept = await readKeptSession(file).catch(() => undefined);
      // A session that the service does not know any more is over too.
      if (kept !== undefined)
        await post(`${kept.server}/operations/v1/end-session`, { authorization: `Bearer ${kept.token}` }, {});
      await forgetSession(file);
      say('Signed out.');
    }),
    new Command('whoami').description('show the operator of the kept session').action(async () => {
      const kept = await readKeptSession(sessionFile());
      if (kept === undefined) throw new CommandError('Nobody is signed in. Sign in with `sharedraft login`.');
      const { name, roles, institution } = await sessionOf(kept);
      say(`${name}, ${roles.join(', ')} of ${institution.name} (${institution.code}) at ${kept.server}`);
    }),
  ];
}

/** Device authorization (RFC 8628). Returns the name of the operator whose session is kept in the file. */
export async function logIn(
  {
    server,
    institution,
    machine,
  }: { readonly server: string; readonly institution: string; readonly machine: string },
  { file, show }: { readonly file: string; readonly show: (text: string) => void },
): Promise<{ readonly name: string }> {
  const asked = { client_id: deviceClientId, institution, machine };
  const started = await post(`${server}/operations/device-authorization`, {}, asked);
  const { device_code: deviceCode, user_code: userCode, verification_uri: uri } = started.body;
  if (typeof deviceCode !== 'string')
    throw new CommandError(
      `${server} refused: ${started.body.error ?? started.status}. Check --server and --institution.`,
    );
  show(`Open ${uri} and enter the code ${userCode}`);
  let seconds = Number(started.body.interval);
  for (;;) {
    await setTimeout(seconds * 1000);
    const form = { client_id: deviceClientId, device_code: deviceCode };
    const grant = { ...form, grant_type: 'urn:ietf:params:oauth:grant-type:device_code' };
    const { body } = await post(`${server}/operations/token`, {}, grant);
    if (typeof body.access_token === 'string') {
      const kept = { server, institution, token: body.access_token };
      const { name } = await sessionOf(kept);
      await keepSession(file, kept);
      return { name };
    }
    if (body.error === 'slow_down') seconds += 5;
    else if (body.error !== 'authorization_pending')
      throw new CommandError(refusals[String(body.error)] ?? refusals.other);
  }
}

const refusals: Readonly<Record<string, string>> & { readonly other: string } = {
  access_denied: 'The operator refused, or may not sign in any more.',
  expired_token: 'The code has expired. Begin again.',
  other: 'The service did not accept the code. Begin again.',
};

async function sessionOf({ server, token }: { readonly server: string; readonly token: string }) {
  const response = await fetch(`${server}/operations/v1/session`, {
    headers: { authorization: `Bearer ${token}` },
    redirect: 'error',
  });
  if (!response.ok) throw new CommandError('The session has ended. Sign in with `sharedraft login`.');
  return (await response.json()) as {
    readonly name: string;
    readonly roles: readonly string[];
    readonly institution: { readonly code: string; readonly name: string };
  };
}

async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  form: Readonly<Record<string, string>>,
) {
  const body = new URLSearchParams(form);
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error' }).catch((cause) => {
    throw new CommandError(`${new URL(url).origin} does not respond.`, { cause });
  });
  const text = await response.text();
  return {
    status: response.status,
    body: (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>,
  };
}

/** The token goes there, so it must be https, except on this machine. */
function readServer(text: string): string {
  const url = URL.parse(text);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '');
  if (url === null || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)))
    throw new InvalidArgumentError('Must be an https address; http only on this machine.');
  return url.origin;
}
