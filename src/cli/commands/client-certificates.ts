import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import {
  addClientCertificate,
  type ClientCertificate,
  InvalidCertificateError,
  readCertificatePem,
  removeClientCertificate,
} from '../../auth/index.ts';
import { CommandError, type InstitutionOptions, onInstitution, say } from '../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../confirm.ts';

export function clientCertificateCommands(): Command[] {
  return [add(), remove()];
}

function add(): Command {
  return onInstitution(
    new Command('add-certificate')
      .description('register a certificate that the client shows in its TLS connection (mutual TLS)')
      .argument('<client-id>')
      .argument('<file>', 'PEM, the certificate alone'),
    async ({ auth, institutionId, origin }, _options: InstitutionOptions, clientId: string, file: string) => {
      const certificate = await readCertificateFile(file, auth.clock());
      const added = await addClientCertificate(auth, institutionId, { clientId, certificate, origin });
      if (added === 'no_such_client') throw noSuchClient();
      if (added === 'known') throw new CommandError('The client has this certificate.');
      say(`x5t#S256: ${certificate.thumbprint}\nexpires:  ${certificate.expiresAt.toISOString()}`);
    },
  );
}

function remove(): Command {
  return onInstitution(
    new Command('remove-certificate')
      .description('remove a certificate of a client')
      .argument('<client-id>')
      .argument('<x5t#S256>', 'as `client list` shows it')
      // One of 64 thumbprints begins with "-", like an option. A real typo is an argument too many.
      .allowUnknownOption()
      .addOption(yesOption()),
    async (
      { auth, institutionId, origin },
      options: InstitutionOptions & ConfirmOptions,
      clientId: string,
      thumbprint: string,
    ) => {
      await confirm(`${clientId} can no longer authenticate with the certificate ${thumbprint}.`, options);
      if (!(await removeClientCertificate(auth, institutionId, { clientId, thumbprint, origin }))) {
        throw new CommandError('The client has no such certificate.');
      }
      say('Removed.');
    },
  );
}

export async function readCertificateFile(file: string, now: Date): Promise<ClientCertificate> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new CommandError(`${file} cannot be read.`);
  });
  try {
    return readCertificatePem(text, now);
  } catch (error) {
    if (error instanceof InvalidCertificateError)
      throw new CommandError(`The certificate is refused: ${error.message}.`);
    throw error;
  }
}

export function noSuchClient(): CommandError {
  return new CommandError('The client does not exist in this institution.');
}
