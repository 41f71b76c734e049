import { inserting } from '../../storage/index.ts';
import type { Screening } from '../rules/controls/screening.ts';
import type { OrderSignIn } from '../rules/controls/step-up.ts';

/** Before the transfers and their terms, whose triggers look for them. */
export const insertScreenings = inserting<Screening & { readonly transferKey: bigint }>(
  'transfers_screen',
  'transfer_screenings',
  { transferKey: 'bigint', verdict: 'text', answer: 'text', reference: 'text', askedMillis: 'integer' },
);

/** Likewise. */
export const insertSignIns = inserting<OrderSignIn & { readonly transferKey: bigint }>(
  'transfers_sign_in',
  'transfer_sign_ins',
  { transferKey: 'bigint', signedInAt: 'timestamptz', acr: 'text', checkedAt: 'timestamptz' },
);

/** Behind the transfers: its trigger looks at their source. */
export const insertConsents = inserting<{ readonly transferKey: bigint; readonly consentId: string }>(
  'transfers_under_consent',
  'transfer_consents',
  { transferKey: 'bigint', consentId: 'uuid' },
);
