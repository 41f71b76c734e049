import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** Differences from an honest authenticator and browser. */
export interface Lie {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  /** User present 1, user verified 4, backup eligible 8. */
  readonly flags?: number;
  readonly userHandle?: string;
  readonly count?: number;
}

/** A passkey in software with the browser around it (WebAuthn level 3): ES256, attestation none, a counter. */
export class Authenticator {
  readonly #origin: string;
  readonly #privateKey: KeyObject;
  readonly #coseKey: Buffer;
  readonly credentialId: Buffer = randomBytes(16);
  #userHandle = '';
  #count = 0;

  constructor(origin: string) {
    this.#origin = origin;
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#privateKey = privateKey;
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    const bytes = (text: string) => Buffer.concat([Buffer.of(0x58, 32), Buffer.from(text, 'base64url')]);
    // {1: 2, 3: -7, -1: 1, -2: x, -3: y}
    const head = Buffer.of(0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21);
    this.#coseKey = Buffer.concat([head, bytes(x), Buffer.of(0x22), bytes(y)]);
  }

  /** RegistrationResponseJSON, for the options of a page. */
  create(options: Options, lie: Lie = {}): string {
    this.#userHandle = options.user?.id ?? '';
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.credentialId.length);
    const attested = Buffer.concat([Buffer.alloc(16), length, this.credentialId, this.#coseKey]);
    const rpId = options.rp?.id ?? '';
    const authData = Buffer.concat([this.#data(rpId, { flags: 0x05, ...lie }, 0x40), attested]);
    const size = Buffer.alloc(2);
    size.writeUInt16BE(authData.length);
    const attestationObject = Buffer.concat([
      Buffer.of(0xa3, 0x63),
      Buffer.from('fmt'),
      Buffer.of(0x64),
      Buffer.from('none'),
      Buffer.of(0x67),
      Buffer.from('attStmt'),
      Buffer.of(0xa0, 0x68),
      Buffer.from('authData'),
      Buffer.of(0x59),
      size,
      authData,
    ]);
    const response = {
      clientDataJSON: this.#client('webauthn.create', options, lie).toString('base64url'),
      attestationObject: attestationObject.toString('base64url'),
      transports: ['internal'],
    };
    return this.#credential(response);
  }

  /** AuthenticationResponseJSON, for the options of a page. */
  get(options: Options, lie: Lie = {}): string {
    this.#count = lie.count ?? this.#count + 1;
    const authData = this.#data(options.rpId ?? '', { flags: 0x05, ...lie }, 0);
    const clientData = this.#client('webauthn.get', options, lie);
    const signed = Buffer.concat([authData, createHash('sha256').update(clientData).digest()]);
    return this.#credential({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: sign('sha256', signed, this.#privateKey).toString('base64url'),
      userHandle: lie.userHandle ?? this.#userHandle,
    });
  }

  #data(rpId: string, { flags = 0x05, ...lie }: Lie, more: number): Buffer {
    const hash = createHash('sha256').update(lie.rpId ?? rpId);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(this.#count);
    return Buffer.concat([hash.digest(), Buffer.of(flags | more), count]);
  }

  #client(type: string, { challenge }: Options, lie: Lie): Buffer {
    const honest = { type, challenge, origin: this.#origin, crossOrigin: false };
    const { origin = honest.origin } = lie;
    return Buffer.from(
      JSON.stringify({
        ...honest,
        origin,
        type: lie.type ?? type,
        challenge: lie.challenge ?? challenge,
      }),
    );
  }

  #credential(response: object): string {
    const id = this.credentialId.toString('base64url');
    return JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response });
  }
}

/** The options of a ceremony as a page carries them. */
export interface Options {
  readonly challenge: string;
  readonly rpId?: string;
  readonly rp?: { readonly id: string; readonly name: string };
  readonly user?: { readonly id: string; readonly name: string };
  readonly excludeCredentials?: readonly { readonly id: string }[];
}

export function optionsIn(text: string): Options {
  const attribute = /data-options="([^"]*)"/.exec(text)?.[1] ?? '{}';
  return JSON.parse(attribute.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&'));
}
