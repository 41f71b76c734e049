import { Command } from 'commander';
import { anchorChain, appendAudit, chains, readAuditPublicKeys, sealAudit } from '../../../events/index.ts';
import { say } from '../../command.ts';
import type { PrintedAnchor } from './anchor-file.ts';
import { onAudit } from './scope.ts';

export function anchor(): Command {
  const command = new Command('anchor').description(
    'sign the present end of each chain, and print the anchors to keep outside: a JSON document per line',
  );
  return onAudit(command, async ({ context, institutionId, name, origin }) => {
    const { database, clock } = context;
    const { vault } = context.auth;
    await database.transaction(institutionId, (tx) =>
      appendAudit(tx, { action: 'audit.anchored', outcome: 'succeeded', origin }, clock()),
    );
    await sealAudit(database, institutionId, clock);
    for (const chain of chains) {
      const signed = await anchorChain({ database, vault, clock }, institutionId, chain);
      if (signed === undefined) continue;
      const { number, hash, signedAt, jws } = signed;
      const { kid } = JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString());
      const x = (await readAuditPublicKeys(database)).get(kid) ?? '';
      const printed: PrintedAnchor = {
        ...{ institution: name, chain, number, hash: hash.toString('hex'), at: signedAt.toISOString() },
        ...{ anchor: jws, key: { kid, x } },
      };
      say(JSON.stringify(printed));
    }
  });
}
