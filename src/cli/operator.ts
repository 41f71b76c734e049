import os from 'node:os';
import type { Operator } from '../events/index.ts';

const longestName = 128;

interface System {
  userInfo(): { readonly username: string };
  hostname(): string;
}

/**
 * Who runs the command. The one place that asks the operating system. The environment's USER and LOGNAME are not asked,
 * since they can be set to anything; nor can SUDO_USER be relied on, which is only kept beside the rest.
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

/** A container may run as a number that has no name. */
function systemUser(system: System): string {
  try {
    return system.userInfo().username;
  } catch {
    return `uid ${process.geteuid?.()}`;
  }
}

/** As the audit's columns take it. SUDO_USER is free text: a character that turns the line around would disguise the entry. */
function oneLine(text: string): string {
  return (
    text
      .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '?')
      .replaceAll(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, '')
      .slice(0, longestName) || '?'
  );
}
