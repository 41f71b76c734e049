import * as Type from 'typebox/type';
import { profileExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentProfile } from '../../presenters.ts';
import { EmailAddress, line, PhoneType, Profile, StepUpProblem } from '../../schemas.ts';

export const ContactChange = Type.Object(
  {
    emailAddress: Type.Optional(EmailAddress),
    phoneNumber: Type.Optional(line(40, { description: 'Stored in E.164.' })),
    phoneType: Type.Optional(PhoneType),
  },
  { additionalProperties: false },
);

export const updateMemberContact = operation({
  operationId: 'updateMemberContact',
  method: 'PATCH',
  path: '/digitalbanking/ux-users/v1/customers/{customerId}/contact-info',
  tag: 'Members',
  summary: 'Update member contact',
  description:
    'Changes the given contact fields and no others; an empty body changes nothing. A new e-mail address is in the profile at once. Operations find the member by it once it is verified: by the core’s record, or by `confirmEmail` with the code sent to it. A phone number belongs to the given `phoneType`, by default MOBILE. `phoneType` alone changes the type of the only phone; with none or several, send `phoneNumber` too. `null` counts as left out.',
  token: 'any',
  scope: 'institution-users:write',
  params: Type.Object({ customerId: line(64, { description: 'The customer ID of the member.' }) }),
  body: {
    schema: ContactChange,
    mediaTypes: ['application/json'],
    examples: {
      email: { value: { emailAddress: 'wilhelmina@quillfeather.example' } },
      phone: { value: { phoneNumber: '+1 202 555 0143', phoneType: 'MOBILE' } },
    },
  },
  responses: {
    200: {
      description: 'Contact info updated.',
      schema: Profile,
      examples: { updated: { value: profileExample } },
    },
  },
  problems: ['not_found', 'insufficient_user_authentication', 'outcome_unknown'],
  problemSchemas: { 401: StepUpProblem },
  // Each change can make the institution write to an address that the member names.
  rate: 'contact-change',
  async handle(services, { actor, params, body, origin }) {
    const profile = await services.updateContact(actor, params.customerId, body, origin);
    return { status: 200, body: presentProfile(profile) };
  },
});
