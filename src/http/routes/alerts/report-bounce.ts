import { BounceReport, BounceResult } from '../../alert-shapes.ts';
import { operation } from '../../operation.ts';

const reasons = { BOUNCE: 'BOUNCED', COMPLAINT: 'COMPLAINED' } as const;

export const reportBounce = operation({
  operationId: 'reportBounce',
  method: 'POST',
  path: '/digitalbanking/db-alerts/v1/bounces',
  tag: 'Alerts',
  summary: 'Report bounce',
  description:
    'Reports that an e-mail to a member came back for good, or that the member reported it as unwanted. The service then sends no mail to the address, until an operator lifts the suppression. A repeated report changes nothing.',
  token: 'client',
  scope: 'alertMail:write',
  body: {
    schema: BounceReport,
    mediaTypes: ['application/json'],
    examples: {
      bounce: { value: { emailAddress: 'maple.member@example.test', kind: 'BOUNCE' } },
      complaint: { value: { emailAddress: 'maple.member@example.test', kind: 'COMPLAINT' } },
    },
  },
  responses: {
    200: {
      description: 'The address gets no mail.',
      schema: BounceResult,
      examples: { suppressed: { value: { suppressed: true } } },
    },
  },
  problems: ['outcome_unknown'],
  async handle(services, { actor, body: { emailAddress, kind }, origin }) {
    await services.mail.suppress(actor, { address: emailAddress, reason: reasons[kind], origin });
    return { status: 200, body: { suppressed: true } };
  },
});
