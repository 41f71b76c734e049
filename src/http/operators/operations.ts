import type { OperatorOperation } from './operation.ts';
import { accountOperations } from './routes/accounts.ts';
import { auditOperations } from './routes/audit.ts';
import { clientOperations } from './routes/clients.ts';
import { coreOperations } from './routes/core.ts';
import { figureOperations } from './routes/figures.ts';
import { institutionOperations } from './routes/institution.ts';
import { ledgerOperations } from './routes/ledger.ts';
import { memberOperations } from './routes/members.ts';
import { operatorOperations } from './routes/operators.ts';
import { passkeyOperations } from './routes/passkeys.ts';
import { providerOperations } from './routes/providers.ts';
import { reconcileOperations } from './routes/reconcile/runs.ts';
import { screeningOperations } from './routes/screening.ts';
import { transferRuleOperations } from './routes/transfer-rules.ts';
import { transferOperations } from './routes/transfers.ts';
import { webhookOperations } from './routes/webhooks.ts';

/** Every operation of operators by its tag, in the order of openapi-operations.json. */
export const operationsByTag: Readonly<Record<string, readonly OperatorOperation[]>> = {
  Operators: [...operatorOperations, ...passkeyOperations],
  Figures: figureOperations,
  Institution: institutionOperations,
  Members: memberOperations,
  Accounts: accountOperations,
  Ledger: [...ledgerOperations, ...reconcileOperations],
  Transfers: [...transferOperations, ...transferRuleOperations, ...screeningOperations],
  Core: coreOperations,
  Clients: [...clientOperations, ...providerOperations],
  Webhooks: webhookOperations,
  Audit: auditOperations,
};

export const operationsOfOperators: readonly OperatorOperation[] = Object.values(operationsByTag).flat();
