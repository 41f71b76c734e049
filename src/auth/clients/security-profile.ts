import { Problem } from '../../shared/problem.ts';

/** FAPI2: the FAPI 2.0 Security Profile of the OpenID Foundation. */
export type SecurityProfile = 'STANDARD' | 'FAPI2';

/** The settings of a client that the rules are about; those that are left out have the defaults of the table. */
interface ProfiledClient {
  readonly securityProfile?: SecurityProfile | undefined;
  readonly grants?: readonly string[] | undefined;
  readonly isPublic?: boolean | undefined;
  readonly requiresDpop?: boolean | undefined;
  readonly bindsToCertificate?: boolean | undefined;
  readonly allowsTokenEndpointAudience?: boolean | undefined;
  readonly redirectUris?: readonly string[] | undefined;
  readonly secrets: number;
  readonly keyAlgorithms: readonly string[];
  readonly certificateThumbprints: readonly string[];
}

/** Section 5.4.1 of the profile excludes RSASSA-PKCS1-v1_5. */
const excludedAlgorithm = 'RS256';

/** The rules of FAPI 2.0 Security Profile section 5.3.2, each with the sentence for the operator. The database has the same rules. */
const rules: readonly [fits: (client: ProfiledClient) => boolean, sentence: string][] = [
  [({ isPublic }) => isPublic !== true, 'A client of the FAPI 2.0 profile is confidential.'],
  [
    ({ requiresDpop = false, bindsToCertificate = false }) => requiresDpop !== bindsToCertificate,
    'A client of the FAPI 2.0 profile has tokens that are bound to a key, or to its certificate.',
  ],
  [
    ({ grants = [] }) => !grants.includes('password'),
    'A client of the FAPI 2.0 profile has no password grant.',
  ],
  [
    ({ secrets, keyAlgorithms }) => secrets === 0 && !keyAlgorithms.includes(excludedAlgorithm),
    'A client of the FAPI 2.0 profile has no secret, and keys for ES256, PS256 or EdDSA only: give it a key or a certificate, retire its secrets, and remove keys for RS256.',
  ],
  [
    ({ keyAlgorithms, certificateThumbprints }) =>
      keyAlgorithms.length === 0 || certificateThumbprints.length === 0,
    'A client of the FAPI 2.0 profile authenticates in one way: remove its keys or its certificates.',
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

type Binding = Pick<ProfiledClient, 'requiresDpop' | 'bindsToCertificate'>;

/**
 * The binding of tokens that a change to the profile implies, unless the change names one itself: the client's present one, or else its
 * certificate, or else a key (DPoP). A client with certificates would lose its tokens if it were asked for a key.
 */
export function impliedBinding(
  change: Binding & Pick<ProfiledClient, 'securityProfile'>,
  before: Binding & Pick<ProfiledClient, 'certificateThumbprints'>,
): { requiresDpop?: boolean; bindsToCertificate?: boolean } {
  const isNamed = change.requiresDpop !== undefined || change.bindsToCertificate !== undefined;
  if (change.securityProfile !== 'FAPI2' || isNamed) return {};
  if (before.requiresDpop || before.bindsToCertificate) return {};
  const bindsToCertificate = before.certificateThumbprints.length > 0;
  return { requiresDpop: !bindsToCertificate, bindsToCertificate };
}

/** Problem `invalid_request` for settings that contradict each other or the client's profile. */
export function refuseUnfit(client: ProfiledClient): void {
  if (client.bindsToCertificate && (client.requiresDpop || client.isPublic)) {
    throw new Problem(
      'invalid_request',
      'Tokens are bound to a key or to a certificate, not to both, and those of a public client to a key only.',
    );
  }
  if (client.securityProfile !== 'FAPI2') return;
  const broken = rules.find(([fits]) => !fits(client));
  if (broken !== undefined) throw new Problem('invalid_request', broken[1]);
}
