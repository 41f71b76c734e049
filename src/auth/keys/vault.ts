import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
/** A shorter one is refused: whoever cuts it short would have fewer to guess. */
const authTagLength = 16;

/** What was sealed cannot be opened: it was changed, or sealed for something else or under another SECRET_KEY. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
}

/**
 * What the key-encryption key is for: sealing secrets that must be read again (signing keys; activation codes until they
 * are handed over), and keyed hashes of those that need only be compared. A key of its own for each, by HKDF.
 */
export class Vault {
  readonly #sealingKey: Uint8Array;
  readonly #hashingKey: Uint8Array;

  /** `keyEncryptionKey`: 32 bytes. */
  constructor(keyEncryptionKey: Uint8Array) {
    if (keyEncryptionKey.length !== 32) throw new RangeError('the key-encryption key must have 32 bytes');
    this.#sealingKey = deriveKey(keyEncryptionKey, 'sharedraft seal');
    this.#hashingKey = deriveKey(keyEncryptionKey, 'sharedraft hash');
  }

  /** `purpose` is bound in: what was sealed for one thing cannot be opened as another. */
  seal(purpose: string, secret: Uint8Array): Uint8Array {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#sealingKey, nonce, { authTagLength }).setAAD(
      Buffer.from(purpose),
    );
    const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** DecryptionError. */
  open(purpose: string, sealed: Uint8Array): Uint8Array {
    const bytes = Buffer.from(sealed);
    const nonce = bytes.subarray(0, nonceBytes);
    try {
      const decipher = createDecipheriv(algorithm, this.#sealingKey, nonce, { authTagLength })
        .setAAD(Buffer.from(purpose))
        .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + authTagLength));
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + authTagLength)), decipher.final()]);
    } catch (cause) {
      throw new DecryptionError(`auth: the sealed ${purpose} cannot be opened`, { cause });
    }
  }

  /** 32 bytes. Fast on purpose: what is hashed is random and long, unlike a password. */
  hash(purpose: string, secret: string): Buffer {
    return createHmac('sha256', this.#hashingKey).update(`${purpose}\0${secret}`).digest();
  }
}

function deriveKey(key: Uint8Array, info: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, new Uint8Array(0), info, 32));
}
