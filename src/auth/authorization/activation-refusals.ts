/** Refusals that the page words for the member, beside any password that the institution's rules reject. */
export const activationRefusals = [
  'activation_code_invalid',
  'username_rejected',
  'password_rejected',
  'username_taken',
  'too_many_requests',
] as const;

export type ActivationRefusal = (typeof activationRefusals)[number];
