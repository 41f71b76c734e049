import * as Type from 'typebox/type';
import { activationCodeExample, profileExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentProfile } from '../../presenters.ts';
import { line, Profile } from '../../schemas.ts';
import { profileLocation } from './get-member-profile.ts';

/** Refuses values that cannot be a username or password; auth has the rules for good ones. */
export const MemberActivation = Type.Object(
  {
    activationCode: line(100, { description: 'One-time code of the registration.' }),
    // The rules on names and passwords have codes of their own, below these limits.
    username: Type.String({
      maxLength: 1_024,
      description: '6 to 64 characters, compared without regard to case.',
    }),
    password: Type.String({
      maxLength: 1_024,
      pattern: '^[^\\u0000]*$',
      description: '15 to 128 characters, or as the institution has set.',
    }),
  },
  { additionalProperties: false },
);

export const activateMember = operation({
  operationId: 'activateMember',
  method: 'POST',
  path: '/digitalbanking/v1/customers/activate',
  tag: 'Members',
  summary: 'Activate member',
  description:
    'Gives a registered user a username and a password, once, with the activation code of the registration. Needs a client token.',
  token: 'client',
  scope: 'institution-users:write',
  rate: 'registration',
  body: {
    schema: MemberActivation,
    mediaTypes: ['application/json'],
    examples: {
      activation: {
        value: {
          activationCode: activationCodeExample,
          username: 'wilhelmina.q',
          password: 'a feather falls on ink',
        },
      },
    },
  },
  responses: {
    201: {
      description: 'Login created.',
      headers: { Location: 'URL of the profile.' },
      schema: Profile,
      examples: { activated: { value: profileExample } },
    },
  },
  problems: [
    'activation_code_invalid',
    'username_rejected',
    'password_rejected',
    'username_taken',
    'outcome_unknown',
  ],
  async handle(services, { actor, body, origin }) {
    const profile = await services.activateMember(actor, body, origin);
    return { status: 201, headers: { location: profileLocation(profile) }, body: presentProfile(profile) };
  },
});
