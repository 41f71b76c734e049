const failures: string[] = [];

export function report(subject: string, found: readonly string[]): void {
  process.stdout.write(`${found.length === 0 ? 'ok  ' : 'FAIL'} ${subject}\n`);
  for (const one of found) process.stdout.write(`     ${one}\n`);
  failures.push(...found);
}

/** Reports the failure of a journey, so that the next one runs too. */
export async function journey(name: string, work: () => Promise<readonly string[]>): Promise<void> {
  const found = await work().catch((error: Error) => [error.message.split('\n').slice(0, 3).join(' ')]);
  report(name, found);
}

/** The exit status of the script. */
export function outcome(): 0 | 1 {
  return failures.length === 0 ? 0 : 1;
}
