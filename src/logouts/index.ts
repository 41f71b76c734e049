/**
 * Back-channel logout: apps hear that the session in which a member signed in to them has ended. Owns logout_notices.
 *
 * Invariants: the transaction that ends a session writes the notices, by triggers, so that no way of ending one is forgotten; an app
 * accepts a notice or gets it again for a day; no request goes to an address inside.
 */
export { startLogoutSender } from './logout-sender.ts';
export { requireLogoutUri } from './logout-uri.ts';
