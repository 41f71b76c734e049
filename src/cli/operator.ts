import os from 'node:os';
import type { Operator } from '../events/index.ts';

const longestName = 128;

interface System {
  userInfo(): { readonly username: string };
  hostname(): string;
}

/**
 * The person who runs the command, as the operating system reports them; the only place that reads it. USER and LOGNAME of
 * the environment can have any value, so they are ignored. SUDO_USER can too, and is only recorded in addition.
 */
export function systemOperator(
  { sudoUser }: { readonly sudoUser: string | undefined },
  system: System = os,
): Operator {
  return {
    user: oneLine(systemUser(system)),
    host: oneLine(system.hostname()),
    ...(sudoUser !== undefined && { sudoUser: oneLine(sudoUser) }),
  };
}

/** A container may run under a uid without a name. */
function systemUser(system: System): string {
  try {
    return system.userInfo().username;
  } catch {
    return `uid ${process.geteuid?.()}`;
  }
}

/** Text for a column of the audit. SUDO_USER is free text: a bidirectional control character would disguise the entry. */
function oneLine(text: string): string {
  return (
    text
      .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '?')
      .replaceAll(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, '')
      .slice(0, longestName) || '?'
  );
}
