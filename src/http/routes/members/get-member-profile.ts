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
    'Returns the profile of a user, by an id of the kind `userIdType`. For the id of a membership, a client token gets its PRIMARY user; a member token always gets its own.',
  token: 'any',
  scope: 'institution-users:read',
  params: Type.Object({
    customerId: line(254, { description: 'An id of the kind `userIdType`.' }),
  }),
  query: Type.Object({
    userIdType: Type.Optional(
      Type.Unsafe<Type.Static<typeof UserIdType>>({ ...UserIdType, default: 'CUSTOMER_ID' }),
    ),
  }),
  responses: {
    200: {
      description: 'The profile.',
      schema: Profile,
      examples: { member: { value: profileExample } },
    },
  },
  problems: ['not_found', 'ambiguous_user_id'],
  rate: 'look-up',
  remembers: true,
  async handle(services, { actor, params, query, basis }) {
    const idType = query.userIdType ?? 'CUSTOMER_ID';
    const profile = await services.getProfile(actor, { id: params.customerId, idType, basis });
    return { status: 200, body: presentProfile(profile) };
  },
});

/** The link uses the user id, which names this user for every caller. For a client, the id of a membership names its PRIMARY user. */
export function profileLocation({ userId }: { readonly userId: string }): string {
  return `${getMemberProfile.path.replace('{customerId}', encodeURIComponent(userId))}?userIdType=USER_ID`;
}
