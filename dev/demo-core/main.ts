import { generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Connector } from './connector.ts';
import { openControl } from './control.ts';
import { Core } from './core.ts';
import { readExtract } from './extract.ts';
import { type Fault, faultNames, faults, Switches } from './faults.ts';
import { writeNightlyFiles } from './nightly.ts';
import { randomOf } from './random.ts';
import { Service } from './service.ts';

const help = `Usage: sharedraft demo-core [options]

A simulated core system beside a running service: it keeps books of its own, takes the service's transfers as
instructions, and delivers the acts of its members. docs/core.md explains it.

  --url URL          the service (default http://127.0.0.1:8080)
  --client ID        its client there, with the scopes core:read core:write (default meadow-core)
  --key FILE         the private key of that client (default FOLDER/key.pem, made if missing)
  --folder FOLDER    its books (default .sharedraft/demo-core)
  --extract FOLDER   its accounts, at the first start (default examples/meadow)
  --seed WORD        decides the acts of its members, at the first start (default meadow)
  --history DAYS     days that lie behind it at the first start (default 365)
  --replay DAYS      days after those that pass with --speed (default 0)
  --speed N          days of the core in a real day, until its clock has caught up (default 1)
  --fault NAME       begins with this fault; may be repeated
  --control PORT     loopback port for faults and figures (default: a free one, written to FOLDER/control)
  --ends-with-stdin  ends when its standard input ends, so that it never outlives the process that started it

Faults, switched by curl -X PUT $(cat FOLDER/control)/faults/NAME -d on
${Object.entries(faults)
  .map(([name, meaning]) => `  ${name.padEnd(18)} ${meaning}`)
  .join('\n')}
`;

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:8080' },
    client: { type: 'string', default: 'meadow-core' },
    key: { type: 'string' },
    folder: { type: 'string', default: path.resolve('.sharedraft/demo-core') },
    extract: { type: 'string', default: path.join(root, 'examples/meadow') },
    seed: { type: 'string', default: 'meadow' },
    history: { type: 'string', default: '365' },
    replay: { type: 'string', default: '0' },
    speed: { type: 'string', default: '1' },
    fault: { type: 'string', multiple: true, default: [] },
    control: { type: 'string', default: '0' },
    'ends-with-stdin': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) process.stdout.write(help);
else await run();

async function run(): Promise<void> {
  const { folder, url } = values;
  const stopAsked = whenAskedToStop();
  const { accounts, zone } = await readExtract(values.extract);
  const switches = new Switches();
  for (const name of values.fault) {
    if (!faultNames.includes(name as Fault)) throw new Error(`--fault: one of ${faultNames.join(', ')}`);
    switches.set(name as Fault, true);
  }
  const core = await Core.open({
    folder,
    zone,
    accounts,
    seed: values.seed,
    historyDays: wholeNumber('history'),
    replayDays: wholeNumber('replay'),
    speed: wholeNumber('speed'),
  });
  const key = await readKey(values.key ?? path.join(folder, 'key.pem'));
  // Faults are chosen anew in each process: only the members' lives repeat.
  const random = randomOf(`${core.books.seed} faults ${process.pid}`);
  const service = new Service({ url, clientId: values.client, key, switches, random });
  const tickMillis = wholeNumber('speed') === 1 ? 1_000 : 50;
  const connector = new Connector({ core, service, switches, random, note, tickMillis });
  const control = await openControl(core, switches, { folder, port: wholeNumber('control') });
  note('core_started', { control: control.address, url, folder, lines: core.books.lines.length });

  let isStopping = false;
  const living = (async () => {
    while (!isStopping) {
      await core.advance();
      for (const day of await writeNightlyFiles(core, folder, switches)) note('nightly_file', { day });
      await sleep(tickMillis);
    }
  })();
  await Promise.race([stopAsked, living, connector.run()]);
  isStopping = true;
  connector.stop();
  await living;
  // A request under way is not waited for: each may be sent again.
  process.exit();
}

/** At a signal, or when the process that started it has ended, even by kill -9: the kernel closes the pipe. */
function whenAskedToStop(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  if (values['ends-with-stdin']) process.stdin.on('close', resolve).on('error', resolve).resume();
  return promise;
}

async function readKey(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const publicFile = `${file.replace(/\.pem$/, '')}.public.pem`;
  await writeFile(file, pem, { mode: 0o600, flag: 'wx' });
  await writeFile(publicFile, publicKey.export({ type: 'spki', format: 'pem' }));
  note('key_made', {
    next: `npx sharedraft client create ${values.client} --grants client_credentials --scopes "core:read core:write" --public-key ${publicFile}`,
  });
  return pem;
}

function wholeNumber(name: 'history' | 'replay' | 'speed' | 'control'): number {
  const number = Number(values[name]);
  if (!Number.isInteger(number) || number < 0) throw new Error(`--${name}: expected a whole number`);
  return number;
}

function note(event: string, facts: object = {}): void {
  process.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), event, ...facts })}\n`);
}
