import * as Type from 'typebox/type';
import { Problem } from '../../../shared/problem.ts';
import { transferExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { InstructionOutcome, line, OutcomeReport, OutcomeUnknownProblem } from '../../schemas.ts';

export const reportOutcome = operation({
  operationId: 'reportOutcome',
  method: 'POST',
  path: '/digitalbanking/core/v1/instructions/{id}/outcome',
  tag: 'Core',
  summary: 'Report outcome',
  description:
    'The core has carried out an instruction, or refuses it. A held transfer completes or fails; a completed one stays, or is reversed. The same outcome again gets the same response, also from a client whose lease has ended: the word of the core counts. The other outcome afterwards is refused.',
  token: 'client',
  scope: 'core:read',
  params: Type.Object({
    id: line(64, { description: 'Id of the instruction, which is that of its transfer.' }),
  }),
  body: {
    schema: OutcomeReport,
    mediaTypes: ['application/json'],
    examples: {
      accepted: { value: { outcome: 'ACCEPTED', coreReference: 'T-20261120-000871' } },
      rejected: { value: { outcome: 'REJECTED', code: 'NSF', reason: 'Insufficient funds at the core.' } },
    },
  },
  responses: {
    200: {
      description: 'The outcome counts.',
      schema: InstructionOutcome,
      examples: {
        accepted: { value: { id: transferExample.id, outcome: 'ACCEPTED', transferStatus: 'COMPLETED' } },
      },
    },
  },
  problems: ['not_found', 'instruction_decided', 'outcome_unknown'],
  problemSchemas: { 504: OutcomeUnknownProblem },
  async handle(services, { actor, params: { id }, body, origin }) {
    const { outcome: kind, coreReference = null, code, reason = null } = body;
    if (kind === 'REJECTED' && code === undefined) throw missingCode();
    const outcome =
      kind === 'ACCEPTED'
        ? ({ kind, coreReference } as const)
        : ({ kind, code: code as string, reason } as const);
    const decided = await services.reportOutcome(actor, { transferId: id, outcome, origin });
    if (decided.kind === 'unknown') throw new Problem('not_found', 'There is no such instruction.');
    const { transfer } = decided;
    if (decided.kind === 'unchanged' && decided.why !== 'decided_so') {
      throw new Problem(
        'instruction_decided',
        'The instruction has the other outcome already, or was withdrawn before it was delivered.',
      );
    }
    return { status: 200, body: { id, outcome: kind, transferStatus: transfer.status } };
  },
});

function missingCode(): Problem {
  return new Problem('invalid_request', 'A rejection needs its code.', {
    errors: [{ pointer: '/code', detail: 'Must be given with the outcome REJECTED.' }],
  });
}
