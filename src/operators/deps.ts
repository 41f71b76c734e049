import type { AuthDeps } from '../auth/index.ts';
import type { CoreConnection } from '../core-connection/index.ts';
import type { AuditRetention } from '../events/index.ts';
import type { BusinessTime } from '../institutions/index.ts';
import type { Screener } from '../screening/index.ts';
import type { Clock, Database, InstitutionId } from '../storage/index.ts';
import type { TransferDesk } from '../transfers/index.ts';
import type { WebhookDeps } from '../webhooks/index.ts';
import type { WorkFigures } from './figures/work-figures.ts';
import type { LiveConsoles } from './live/live-consoles.ts';

/** Everything that an operation of an operator stands on. */
export interface OperatorDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly businessTime: BusinessTime;
  readonly auth: AuthDeps;
  readonly desk: TransferDesk;
  readonly webhooks: WebhookDeps;
  readonly screener: Pick<Screener, 'try'>;
  readonly auditRetention: AuditRetention;
  readonly live: LiveConsoles;
  /** Null: the service does not measure its work. */
  readonly work: () => Promise<WorkFigures | null>;
  readonly coreConnection: (institutionId: InstitutionId) => Promise<CoreConnection>;
}
