import { type Queryable, sql } from '../../storage/index.ts';
import type { ClientCertificate } from './read-certificate.ts';

const newCertificate = sql(
  'auth_insert_client_certificate',
  `insert into client_certificates (institution_id, client_id, thumbprint, expires_at, created_at)
   values ($1, $2, $3, $4, $5) on conflict do nothing`,
);

/** False: the client has the certificate. */
export async function insertClientCertificate(
  db: Queryable,
  clientId: string,
  {
    thumbprint,
    expiresAt,
    createdAt,
  }: Pick<ClientCertificate, 'thumbprint' | 'expiresAt'> & { readonly createdAt: Date },
): Promise<boolean> {
  const values = [db.institutionId, clientId, thumbprint, expiresAt, createdAt];
  return (await db.query(newCertificate, values)).rowCount === 1;
}

const deleteCertificate = sql(
  'auth_delete_client_certificate',
  'delete from client_certificates where institution_id = $1 and client_id = $2 and thumbprint = $3',
);

/** False: the client has no such certificate. */
export async function deleteClientCertificate(
  db: Queryable,
  clientId: string,
  thumbprint: string,
): Promise<boolean> {
  return (await db.query(deleteCertificate, [db.institutionId, clientId, thumbprint])).rowCount === 1;
}
