import * as Type from 'typebox/type';
import { emailCodeExample, profileExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentProfile } from '../../presenters.ts';
import { line, Profile } from '../../schemas.ts';

export const EmailConfirmation = Type.Object(
  { emailCode: line(100, { description: 'One-time code from the message.' }) },
  { additionalProperties: false },
);

export const confirmEmail = operation({
  operationId: 'confirmEmail',
  method: 'POST',
  path: '/digitalbanking/v1/customers/confirm-email',
  tag: 'Members',
  summary: 'Confirm e-mail address',
  description:
    'Verifies the e-mail address of a member with the one-time code that the institution sent to it. From then on, operations find the member by it. A member token confirms its own address, a client token that of any member of the institution.',
  token: 'any',
  scope: 'institution-users:write',
  rate: 'registration',
  body: {
    schema: EmailConfirmation,
    mediaTypes: ['application/json'],
    examples: { code: { value: { emailCode: emailCodeExample } } },
  },
  responses: {
    200: {
      description: 'E-mail address verified.',
      schema: Profile,
      examples: { confirmed: { value: profileExample } },
    },
  },
  problems: ['email_code_invalid', 'email_taken', 'outcome_unknown'],
  async handle(services, { actor, body, origin }) {
    const profile = await services.confirmEmail(actor, body.emailCode, origin);
    return { status: 200, body: presentProfile(profile) };
  },
});
