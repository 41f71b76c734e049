import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';

/** OpenID Connect Core 1.0 section 5.3.2. */
export const UserInfo = Type.Object({
  sub: Type.String({ description: 'The user id, the same as in the ID token.' }),
  name: Type.Optional(Type.String({ description: 'Present with the scope `profile`.' })),
  given_name: Type.Optional(Type.String({ description: 'Present with the scope `profile`.' })),
  family_name: Type.Optional(Type.String({ description: 'Present with the scope `profile`.' })),
  email: Type.Optional(Type.String({ description: 'Present with the scope `email`.' })),
});

export const getUserInfo = operation({
  operationId: 'getUserInfo',
  method: 'GET',
  path: '/auth/v2/userinfo',
  tag: 'Token',
  summary: 'Claims of the member',
  description:
    'The claims of the member who signed in (OpenID Connect Core 1.0, section 5.3), as far as the scopes allow.',
  token: 'member',
  scope: 'openid',
  responses: {
    200: {
      description: 'The claims.',
      schema: UserInfo,
      examples: {
        claims: {
          value: { sub: 'usr-demo-1', name: 'Robin Example', given_name: 'Robin', family_name: 'Example' },
        },
      },
    },
  },
  async handle(services, { actor, scopes }) {
    const profile = await services.getUserInfo(actor);
    const { userId, firstName, lastName, emailAddress } = profile;
    return {
      status: 200,
      body: {
        sub: userId,
        ...(scopes.includes('profile') && {
          name: `${firstName} ${lastName}`,
          given_name: firstName,
          family_name: lastName,
        }),
        ...(scopes.includes('email') && { email: emailAddress }),
      },
    };
  },
});
