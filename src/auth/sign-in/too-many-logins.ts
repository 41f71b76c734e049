import { Problem } from '../../shared/problem.ts';

export function tooManyLogins(): Problem {
  return new Problem('overloaded', 'Too many logins at once. Nothing was written.', {
    retryAfterSeconds: 2,
  });
}
