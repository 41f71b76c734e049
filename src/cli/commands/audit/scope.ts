import { type Command, Option } from 'commander';
import type { AppContext } from '../../../app/context.ts';
import { type CommandOrigin, wholeService } from '../../../events/index.ts';
import type { InstitutionId } from '../../../storage/index.ts';
import { chooseInstitution } from '../../chosen-institution.ts';
import { originOf, withContext } from '../../command.ts';

export interface ScopeOptions {
  readonly institution?: string;
  readonly service?: true;
}

/** A command on the audit of one institution, or of the service as a whole. */
export interface AuditRun {
  readonly context: AppContext;
  readonly origin: CommandOrigin;
  readonly institutionId: InstitutionId;
  /** The code of the institution, or `service`. */
  readonly name: string;
}

/** Gives a command the options of its scope, and its work. */
export function onAudit<Options extends ScopeOptions>(
  command: Command,
  work: (run: AuditRun, options: Options) => Promise<void>,
): Command {
  return command
    .addOption(new Option('--institution <code>', 'the institution of the entries').conflicts('service'))
    .option('--service', 'the entries of the service as a whole: unknown clients, signing keys')
    .action((options: Options) =>
      withContext(async (context, origin) => {
        if (options.service) {
          await work({ context, origin, institutionId: wholeService, name: 'service' }, options);
          return;
        }
        const institution = await chooseInstitution(context, options.institution, { orCopy: true });
        const { institutionId, code: name } = institution;
        const by = await originOf(command, { context, institution, origin });
        await work({ context, origin: by, institutionId, name }, options);
      }),
    );
}
