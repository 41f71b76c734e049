import * as Type from 'typebox/type';
import { profileExample } from '../../openapi/examples.ts';
import { operation } from '../../operation.ts';
import { presentProfile } from '../../presenters.ts';
import { line, Profile, UserIdType } from '../../schemas.ts';

export const getMemberProfile = operation({
  operationId: 'getMemberProfile',
  method: 'GET',
  path: '/digitalbanking/ux-users/v1/customers/{customerId}/contact-methods',
  tag: 'Members',
  summary: 'Get member profile',
  description:
    'The profile of a user, by an id of the kind that `userIdType` says. A client token that names a membership gets its PRIMARY user, a member token always its own.',
  token: 'any',
  scope: 'institution-users:read',
  params: Type.Object({
    customerId: line(254, { description: 'An id of the kind that `userIdType` says.' }),
  }),
  query: Type.Object({
    userIdType: Type.Optional(
      Type.Unsafe<Type.Static<typeof UserIdType>>({ ...UserIdType, default: 'CUSTOMER_ID' }),
    ),
  }),
  answers: {
    200: {
      description: 'The profile.',
      schema: Profile,
      examples: { member: { value: profileExample } },
    },
  },
  problems: ['not_found', 'ambiguous_user_id'],
  rate: 'look-up',
  async handle(services, { actor, params, query }) {
    const profile = await services.getProfile(actor, params.customerId, query.userIdType ?? 'CUSTOMER_ID');
    return { status: 200, body: presentProfile(profile) };
  },
});

/** By user id, which means this user to every caller; a membership's id means its PRIMARY user to a client. */
export function profileLocation({ userId }: { readonly userId: string }): string {
  return `${getMemberProfile.path.replace('{customerId}', encodeURIComponent(userId))}?userIdType=USER_ID`;
}
