/*
 * The arithmetic of docs/scaling.md for 1,000 cells: measured figures and named assumptions in, one table out. It measures nothing.
 *
 *   node bench/on-paper.ts [CELLS] [INSTITUTIONS] [MEMBERS]     default 1000 10000 100000000
 */

/** From bench/results/latest.json and docs/scaling.md; microseconds of a core, and bytes. */
const measured = {
  transfer: { service: 101, database: 154, log: 2_402, disk: 1_136 },
  read: { service: 45, database: 30 },
  /** docs/cells.md, at a load of 16 to 19 on two cores. */
  move: { rows: 16_483, wholeSeconds: 19.31, pauseSeconds: 0.79 },
  /** bench/NOTES.md, "Many institutions": transactions of an idle process. */
  idleTransactionsPerSecond: 9.05,
  /** docs/configuration.md: connections of a process at the primary and at each standby, by default settings. */
  connections: { primary: 8 + 6, standby: 2 + 1 },
  /** bench/directory.ts with 1,000 cells: microseconds of the directory's PostgreSQL, and bytes. */
  directory: {
    publication: { micros: 2_855, bytes: 14_924 },
    publicationWithKeys: { micros: 6_750, bytes: 630_402 },
    question: { micros: 70, bytes: 153 },
    bytesOfRow: 24.9e6 / 152_000,
    bytesOfConnection: 5.1e6,
    keysAtIssuer: 410_000,
    /** src/app/cells/publishing.ts */
    publicationSeconds: 10,
    /** One that publishes, and one that asks whether look-ups still hold. */
    connections: 2,
  },
};

const assumed = {
  readsPerMemberAndDay: 30,
  transfersPerMemberAndDay: 0.2,
  shareOfBusiestHour: 0.1,
  processesPerCell: 2,
  standbysPerCell: 2,
  hostsPerInstitution: 2,
  clientsPerInstitution: 10,
  providersPerInstitution: 2,
  keysPerCell: 2,
  /** docs/configuration.md, by default. */
  daysBetweenRotations: 90,
  /** Of a year's institutions. */
  movedPerYear: 0.1,
  readBytesPerSecond: 50e6,
  dollars: { coreHour: 0.04, gigabyteMonth: 0.1, archivedGigabyteMonth: 0.02, serverMonth: 60 },
  archiveDays: 30,
  minutesOfUpgrade: 5,
  upgradesAtOnce: 50,
};

const [cells = 1_000, institutions = 10_000, members = 100_000_000] = process.argv.slice(2).map(Number);
const gigabyte = 1e9;
const million = 1e6;

/** Of so many members. */
function workOf(count: number) {
  const reads = count * assumed.readsPerMemberAndDay;
  const transfers = count * assumed.transfersPerMemberAndDay;
  const perSecond = (daily: number) => (daily * assumed.shareOfBusiestHour) / 3_600;
  const cores = (part: 'service' | 'database', perDay: (daily: number) => number) =>
    (perDay(reads) * measured.read[part] + perDay(transfers) * measured.transfer[part]) / million;
  return {
    reads: perSecond(reads),
    transfers: perSecond(transfers),
    serviceCores: cores('service', perSecond),
    databaseCores: cores('database', perSecond),
    coreSeconds: cores('service', (daily) => daily) + cores('database', (daily) => daily),
    diskPerYear: transfers * 365 * measured.transfer.disk,
    logPerDay: transfers * measured.transfer.log,
  };
}

/** Each process publishes, and reads all keys once a day and whenever a rotation brings or takes one. */
function ofDirectory() {
  const { publication, publicationWithKeys, question, ...rest } = measured.directory;
  const processes = cells * assumed.processesPerCell;
  const publications = processes / rest.publicationSeconds;
  const readingsADay = 1 + (2 * cells) / assumed.daysBetweenRotations;
  const readings = (processes * readingsADay) / 86_400;
  const lookUps =
    (members *
      (assumed.readsPerMemberAndDay + assumed.transfersPerMemberAndDay) *
      assumed.shareOfBusiestHour) /
    3_600;
  const more = (part: 'micros' | 'bytes') => publicationWithKeys[part] - publication[part];
  return {
    publications,
    readingsADay,
    cores: (publications * publication.micros + readings * more('micros')) / million,
    bytesPerSecond: publications * publication.bytes + readings * more('bytes'),
    /** As many as when keys and cells were read each time. */
    bytesOfAllKeys: publications * publicationWithKeys.bytes,
    connections: processes * rest.connections,
    memory: processes * rest.connections * rest.bytesOfConnection,
    lookUps,
    coresOfQuestions: (lookUps * question.micros) / million,
  };
}

const ofMillion = workOf(million);
const ofCell = workOf(members / cells);
const ofInstitution = workOf(members / institutions);
/** By Zipf's law with exponent 1. */
const harmonic = Array.from({ length: institutions }, (_, index) => 1 / (index + 1)).reduce(
  (a, b) => a + b,
  0,
);
const ofLargest = workOf(members / harmonic);
const servers = 1 + assumed.standbysPerCell + assumed.processesPerCell;
const namesOfInstitution =
  1 + assumed.hostsPerInstitution + assumed.clientsPerInstitution + assumed.providersPerInstitution;
const rows = cells * (1 + assumed.keysPerCell) + institutions * namesOfInstitution;
const directory = ofDirectory();
const { dollars } = assumed;
const copies = 1 + assumed.standbysPerCell;
const ofWork = (ofMillion.coreSeconds * 30 * dollars.coreHour) / 3_600;
const ofDisk = (ofMillion.diskPerYear / gigabyte) * copies * dollars.gigabyteMonth;
const ofArchive = ((ofMillion.logPerDay * assumed.archiveDays) / gigabyte) * dollars.archivedGigabyteMonth;
const ofServers = (perCell: number) => (servers * dollars.serverMonth * million) / perCell;
const moves = (institutions * assumed.movedPerYear) / 365;
const bytesOfInstitution = ofInstitution.diskPerYear;

const round = (value: number, maximumSignificantDigits = 3) =>
  value.toLocaleString('en-US', { maximumSignificantDigits });
const lines: readonly (readonly [string, string])[] = [
  ['a cell, busiest hour', `${round(ofCell.reads)} reads and ${round(ofCell.transfers)} transfers a second`],
  [
    'cores of a cell, busiest hour',
    `${round(ofCell.serviceCores)} of service, ${round(ofCell.databaseCores)} of database`,
  ],
  ['disk of a cell', `${round(ofCell.diskPerYear / gigabyte)} GB a year`],
  ['log of all cells', `${round((ofMillion.logPerDay * members) / million / gigabyte)} GB a day`],
  [
    'idle questions of a cell',
    `${round(measured.idleTransactionsPerSecond * assumed.processesPerCell)} transactions a second`,
  ],
  [
    'largest institution (Zipf)',
    `${round(members / harmonic / million)} million members: ${round(ofLargest.reads)} reads and ${round(ofLargest.transfers)} transfers a second, ${round(ofLargest.databaseCores)} of a core of database, ${round(ofLargest.diskPerYear / gigabyte)} GB a year`,
  ],
  ['servers', `${round(cells * servers, 6)} (${servers} a cell)`],
  [
    'connections',
    `${assumed.processesPerCell * measured.connections.primary} at a primary, ${assumed.processesPerCell * measured.connections.standby} at a standby`,
  ],
  ['directory', `${round(rows, 6)} rows, ${round((rows * measured.directory.bytesOfRow) / million)} MB`],
  [
    'directory, publications',
    `${round(directory.publications)} a second: ${round(directory.cores)} of a core, ${round(directory.bytesPerSecond / million)} MB a second`,
  ],
  [
    'directory, keys of all cells',
    `${round(cells * assumed.keysPerCell, 6)}; each process reads them ${round(directory.readingsADay)} times a day, and not ${round(86_400 / measured.directory.publicationSeconds, 6)} times (${round(directory.bytesOfAllKeys / million)} MB a second)`,
  ],
  [
    'directory, connections',
    `${round(directory.connections, 6)} with ${round(directory.memory / gigabyte)} GB of memory`,
  ],
  [
    'directory, if every request came to a wrong cell',
    `${round(directory.lookUps)} questions a second in the busiest hour: at most ${round(directory.coresOfQuestions)} cores`,
  ],
  ['keys at PUBLIC_URL', `${round(measured.directory.keysAtIssuer / 1e3)} kB`],
  ['moves', `${round(moves)} a day`],
  [
    'a move, per institution after a year',
    `${round(bytesOfInstitution / million)} MB; the pause reads them once: ${round(bytesOfInstitution / assumed.readBytesPerSecond)} s`,
  ],
  [
    'upgrade',
    `1, 10 and 100 cells, then ${cells - 111} in ${round((Math.ceil((cells - 111) / assumed.upgradesAtOnce) * assumed.minutesOfUpgrade) / 60)} hours, ${assumed.upgradesAtOnce} at once`,
  ],
  ['a million members, work', `$${round(ofWork)} a month`],
  ['a million members, disk after a year', `$${round(ofDisk)} a month`],
  ['a million members, archive of the log', `$${round(ofArchive)} a month`],
  [
    `a million members, servers of cells with ${round(members / cells)} members`,
    `$${round(ofServers(members / cells))} a month`,
  ],
  ['a million members, servers of cells with 1,000,000 members', `$${round(ofServers(million))} a month`],
];
for (const [name, value] of lines) console.log(`| ${name} | ${value} |`);
