import * as Type from 'typebox/type';
import { profileExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentProfile } from '../../presenters.ts';
import { EmailAddress, line, Profile } from '../../schemas.ts';
import { profileLocation } from './get-member-profile.ts';

export const MemberRegistration = Type.Object(
  {
    memberNumber: Type.String({ pattern: '^[A-Za-z0-9-]{1,32}$', description: 'Core member number.' }),
    email: EmailAddress,
    firstName: Type.Optional(line(100)),
    lastName: Type.Optional(line(100)),
    birthDate: Type.Optional(
      Type.String({
        format: 'date',
        description:
          'Must not contradict the core’s record. An institution may require it if the core has no e-mail address.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const registerMember = operation({
  operationId: 'registerMember',
  method: 'POST',
  path: '/digitalbanking/v1/customers/register',
  tag: 'Members',
  summary: 'Register member',
  description:
    'Gives digital access to a person in the core’s record. E-mail and names must not contradict the record, and identify the person within the membership. With open enrollment, an unknown member number opens a membership at once, with a savings and a checking account. The user still needs a login: see `activateMember`. Needs a client token.',
  token: 'client',
  scope: 'institution-users:write',
  rate: 'registration',
  body: {
    schema: MemberRegistration,
    mediaTypes: ['application/json'],
    examples: {
      full: {
        value: {
          memberNumber: '700101',
          email: 'wilhelmina@quillfeather.example',
          firstName: 'Wilhelmina',
          lastName: 'Quillfeather',
        },
      },
      least: { value: { memberNumber: '700101', email: 'wilhelmina@quillfeather.example' } },
    },
  },
  responses: {
    201: {
      description: 'Member registered.',
      headers: { Location: 'URL of the profile.' },
      schema: Profile,
      examples: { registered: { value: profileExample } },
    },
  },
  problems: [
    'member_not_found',
    'member_already_registered',
    'identity_mismatch',
    'registration_refused',
    'outcome_unknown',
  ],
  async handle(services, { actor, body, origin }) {
    const profile = await services.registerMember(actor, body, origin);
    return { status: 201, headers: { location: profileLocation(profile) }, body: presentProfile(profile) };
  },
});
