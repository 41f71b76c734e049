import type { CDPSession, Page } from 'playwright-core';
import { standardAlphabet } from '../../src/shared/text/base32.ts';

/** An authenticator of the browser itself: its person is present and verified at once. */
export async function addAuthenticator(page: Page): Promise<{ readonly remove: () => Promise<void> }> {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    remove: async () => {
      await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    },
  };
}

/** The bytes of the secret in the address for an authenticator app. */
export function secretIn(address: string): Buffer {
  const letters = /secret=([A-Z2-7]+)/.exec(address)?.[1] ?? '';
  const bits = [...letters].map((letter) => standardAlphabet.indexOf(letter).toString(2).padStart(5, '0'));
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
