/**
 * The person at the institution who acts. With `operatorId` a person who signed in. Without it the system user who runs a command, as far
 * as the operating system can tell, which is a record and not a proof: docs/security.md lists its limits.
 */
export interface Operator {
  /** The name of the person, or the system user that the process runs as. */
  readonly user: string;
  readonly operatorId?: string;
  /** A system user acts in an institution that has operators. */
  readonly isBreakGlass?: true;
  /** The machine of a command. */
  readonly host?: string;
  /** SUDO_USER, which only sudo itself sets truthfully. */
  readonly sudoUser?: string;
  /** A name typed with `--as`. Only a demo institution accepts one. */
  readonly as?: string;
}

/** The name that stands beside a transfer. */
export function nameOf({ user, as }: Operator): string {
  return as ?? user;
}

/**
 * Every name that the act was done under. SUDO_USER can be set by the person who runs the command, so it never makes a
 * second person. It only shows that two system users are one.
 */
export function namesOf({ user, sudoUser, as }: Operator): readonly string[] {
  if (as !== undefined) return [as];
  return sudoUser === undefined ? [user] : [user, sudoUser];
}

/** Two acts that share a name are one person's. The database's function `share_a_person` is the same rule. */
export function shareAPerson(one: readonly string[], other: readonly string[]): boolean {
  const folded = new Set(one.map(foldName));
  return other.some((name) => folded.has(foldName(name)));
}

/** Spellings that look alike become equal: compatibility forms, case, spaces, controls and invisible characters. */
function foldName(name: string): string {
  const visible = name
    .normalize('NFKC')
    .replace(/[\p{White_Space}\p{C}\p{Default_Ignorable_Code_Point}]/gu, '');
  return visible.toUpperCase().toLowerCase().normalize('NFKC');
}
