import * as Type from 'typebox/type';
import { profileExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentProfile } from '../../presenters.ts';
import { Profile } from '../../schemas.ts';

const password = (description: string) =>
  Type.String({ maxLength: 1_024, pattern: '^[^\\u0000]*$', description });

export const PasswordChange = Type.Object(
  {
    currentPassword: password('The current password of the member.'),
    newPassword: password('15 to 128 characters, or as the institution has set, and hard to guess.'),
  },
  { additionalProperties: false },
);

export const changePassword = operation({
  operationId: 'changePassword',
  method: 'POST',
  path: '/digitalbanking/v1/customers/password',
  tag: 'Members',
  summary: 'Change password',
  description:
    'Replaces the password of the member of the token. All tokens of the member end, including this one: sign in again with the new password. Wrong current passwords count as at sign-in. The institution gets the event `member.password_changed` and notifies the member. Needs a member token.',
  token: 'member',
  scope: 'institution-users:write',
  body: {
    schema: PasswordChange,
    mediaTypes: ['application/json'],
    examples: {
      change: {
        value: {
          currentPassword: 'a feather falls on ink',
          newPassword: 'nine lanterns beside a quiet lake',
        },
      },
    },
  },
  responses: {
    200: {
      description: 'Password changed.',
      schema: Profile,
      examples: { changed: { value: profileExample } },
    },
  },
  problems: ['wrong_password', 'password_rejected', 'outcome_unknown'],
  async handle(services, { actor, body, origin }) {
    return { status: 200, body: presentProfile(await services.changePassword(actor, body, origin)) };
  },
});
