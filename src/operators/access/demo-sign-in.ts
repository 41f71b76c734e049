import { randomUUID } from 'node:crypto';
import { appendAudit, ownOrigin } from '../../events/index.ts';
import { findInstitutionByCode, type Institution, listInstitutions } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import { insertOperator, type OperatorRow, selectOperatorByName } from './operator-queries.ts';
import type { OperatorRole } from './rights.ts';
import { type AccessDeps, beginSession, type SignInFrom } from './sessions.ts';

/** The persons behind the buttons of a demo. Two approvers show dual control. */
export const demoOperators: readonly { readonly name: string; readonly role: OperatorRole }[] = [
  { name: 'Demo viewer', role: 'viewer' },
  { name: 'Demo teller', role: 'teller' },
  { name: 'Demo approver', role: 'approver' },
  { name: 'Second demo approver', role: 'approver' },
  { name: 'Demo administrator', role: 'administrator' },
  { name: 'Demo auditor', role: 'auditor' },
];

/**
 * A session without any proof, in a demo institution only; the caller has checked that the browser is on this machine. Problem `not_found`
 * for another institution, as for none.
 */
export async function signInToDemo(
  deps: AccessDeps,
  { institution: code, name }: { readonly institution: string; readonly name: string },
  from: SignInFrom,
): Promise<string> {
  const known = demoOperators.find((one) => one.name === name);
  const institution = await deps.database.directory((db) => findInstitutionByCode(db, code));
  if (known === undefined || institution?.demo !== true)
    throw new Problem('not_found', 'There is no such demo.');
  return deps.database.transaction(institution.institutionId, async (tx) => {
    let operator = await selectOperatorByName(tx, name);
    if (operator === undefined) {
      const createdAt = deps.clock();
      const made: OperatorRow = {
        ...{
          operatorId: randomUUID(),
          name,
          email: null,
          roles: [known.role],
          status: 'ACTIVE',
          source: 'DEMO',
          createdAt,
        },
      };
      if (await insertOperator(tx, made)) {
        const entry = { action: 'operator.added', outcome: 'succeeded', subject: made.operatorId } as const;
        await appendAudit(
          tx,
          { ...entry, origin: ownOrigin(), after: { name, roles: made.roles } },
          createdAt,
        );
      }
      operator = await selectOperatorByName(tx, name);
    }
    if (operator?.status !== 'ACTIVE' || operator.source !== 'DEMO') {
      throw new Problem('not_found', 'This operator of the demo was suspended.');
    }
    return beginSession(tx, deps, { operator, kind: 'BROWSER', method: 'demo', from });
  });
}

export async function listDemoInstitutions({
  database,
}: Pick<AccessDeps, 'database'>): Promise<Institution[]> {
  return (await database.directory(listInstitutions)).filter(({ demo }) => demo);
}
