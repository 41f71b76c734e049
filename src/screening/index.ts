/**
 * Screening: an institution's own service judges an order for fraud before the order is decided. Owns screening_hooks. The
 * verdicts stand with the transfers.
 *
 * Invariants: nothing is locked while a hook is asked; an order without an answer gets the verdict of the policy; the secret
 * that signs the requests is shown once.
 */
export {
  changeScreening,
  findScreening,
  removeScreening,
  rotateScreeningSecret,
  setScreening,
} from './change-hook.ts';
export type { HookSettings } from './hook-queries.ts';
export { resealScreeningSecrets } from './reseal-screening-secrets.ts';
export { Screener } from './screener.ts';
