import * as Type from 'typebox/type';
import { instructionExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentInstruction } from '../../presenters.ts';
import { Instruction } from '../../schemas.ts';

export const listInstructions = operation({
  operationId: 'listInstructions',
  method: 'GET',
  path: '/digitalbanking/core/v1/instructions',
  tag: 'Core',
  summary: 'List instructions',
  description:
    'Returns the next transfers that the core must carry out, in order, and leases them to the client for 60 seconds. Asking again renews the leases. No other client gets an instruction of an account that is leased, so each account’s instructions arrive in order. Delivery is at least once: `id` is the idempotency key at the core. Report each outcome.',
  token: 'client',
  scope: 'core:read',
  query: Type.Object({
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'The last `sequence` that the client has. Those up to it that it still leases are not sent again; without it, all are.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: 'At most so many; 200 when left out.' }),
    ),
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30,
        description: 'Seconds to wait for the first instruction (long poll); 0 when left out.',
      }),
    ),
  }),
  responses: {
    200: {
      description: 'Instructions, each earlier than the next. Empty if there is nothing to do.',
      schema: Type.Array(Instruction),
      examples: { one: { value: [instructionExample] }, none: { summary: 'Nothing to do', value: [] } },
    },
  },
  async handle(services, { actor, query, stepAside }) {
    const { after = 0, limit = 200, wait = 0 } = query;
    const left = stepAside();
    const instructions = await services.askInstructions(actor, {
      after: BigInt(after),
      limit,
      waitMillis: left.aborted ? 0 : wait * 1000,
      left,
    });
    return { status: 200, body: instructions.map(presentInstruction) };
  },
});
