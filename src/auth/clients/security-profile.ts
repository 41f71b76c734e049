import { Problem } from '../../shared/problem.ts';

/** FAPI2: the FAPI 2.0 Security Profile of the OpenID Foundation. */
export type SecurityProfile = 'STANDARD' | 'FAPI2';

/** The settings of a client that the profile has rules for; those that are left out have the defaults of the table. */
interface ProfiledClient {
  readonly securityProfile?: SecurityProfile | undefined;
  readonly grants?: readonly string[] | undefined;
  readonly isPublic?: boolean | undefined;
  readonly requiresDpop?: boolean | undefined;
  readonly allowsTokenEndpointAudience?: boolean | undefined;
  readonly redirectUris?: readonly string[] | undefined;
  readonly secrets: number;
  readonly keyAlgorithms: readonly string[];
}

/** Section 5.4.1 of the profile excludes RSASSA-PKCS1-v1_5. */
const excludedAlgorithm = 'RS256';

/** The rules of FAPI 2.0 Security Profile section 5.3.2, each with the sentence for the operator. The database has the same rules. */
const rules: readonly [fits: (client: ProfiledClient) => boolean, sentence: string][] = [
  [({ isPublic }) => isPublic !== true, 'A client of the FAPI 2.0 profile is confidential.'],
  [({ requiresDpop }) => requiresDpop === true, 'A client of the FAPI 2.0 profile has bound tokens.'],
  [
    ({ grants = [] }) => !grants.includes('password'),
    'A client of the FAPI 2.0 profile has no password grant.',
  ],
  [
    ({ secrets, keyAlgorithms }) => secrets === 0 && !keyAlgorithms.includes(excludedAlgorithm),
    'A client of the FAPI 2.0 profile has no secret, and keys for ES256, PS256 or EdDSA only: give it a key, retire its secrets, and remove keys for RS256.',
  ],
  [
    ({ allowsTokenEndpointAudience }) => allowsTokenEndpointAudience !== true,
    'A client of the FAPI 2.0 profile names the issuer in its assertions.',
  ],
  [
    ({ redirectUris = [] }) => redirectUris.every((uri) => uri.startsWith('https://')),
    'A client of the FAPI 2.0 profile has addresses of https only.',
  ],
];

/** Problem `invalid_request` for settings that contradict the client's profile. */
export function refuseUnfit(client: ProfiledClient): void {
  if (client.securityProfile !== 'FAPI2') return;
  const broken = rules.find(([fits]) => !fits(client));
  if (broken !== undefined) throw new Problem('invalid_request', broken[1]);
}

/** For a key that is added later. Problem `invalid_request`. */
export function refuseUnfitKey(profile: SecurityProfile | undefined, algorithm: string): void {
  if (profile === 'FAPI2' && algorithm === excludedAlgorithm) {
    throw new Problem(
      'invalid_request',
      'A client of the FAPI 2.0 profile signs with ES256, PS256 or EdDSA.',
    );
  }
}

/** For a secret that is added later. Problem `invalid_request`. */
export function refuseUnfitSecret(profile: SecurityProfile | undefined): void {
  if (profile === 'FAPI2') {
    throw new Problem('invalid_request', 'A client of the FAPI 2.0 profile has no secret, only keys.');
  }
}
