interface KindOfFinding {
  /** A sentence for the people of the institution. */
  readonly meaning: string;
  readonly advice: string;
}

const compareWithBackup =
  'Freeze the account, and compare its entries with a backup and with the core before money moves.';
const inABackup =
  'The service cannot make this change: look for the row in a backup, and list the uses of the owner’s login.';
const tellReaders = 'Tell the apps that follow the feed of events to read the account again.';

/** The kinds of findings, each named after its check. The database has the same list (reconcile_findings_kind_check). */
export const kindsOfFindings = {
  'trial-balance': {
    meaning: 'The balances of the currency do not add up to zero: the books have made or lost money.',
    advice: 'Begin with the other findings of this run, which name the account.',
  },
  'posting-sum': {
    meaning: 'An opening or adjustment changed an account, and no other by the same amount.',
    advice: 'Find the import or the adjustment in the audit, and compare its other side with a backup.',
  },
  'account-balance': {
    meaning: 'The account and its balance do not belong together, or one of them is missing.',
    advice: inABackup,
  },
  'balance-posted': {
    meaning: 'The posted balance of the account is not the sum of its entries.',
    advice: compareWithBackup,
  },
  'balance-newest-entry': {
    meaning: 'The balance has another number, hold or time than the newest entry of its account.',
    advice: compareWithBackup,
  },
  'entry-of-no-account': {
    meaning: 'There are entries of an account that has no balance.',
    advice: inABackup,
  },
  'entry-gap': {
    meaning: 'The numbers of the account’s entries have a gap: an entry is missing.',
    advice: inABackup,
  },
  'entry-running-balance': {
    meaning: 'The balance after the entry is not the balance before it plus its amount.',
    advice: compareWithBackup,
  },
  'entry-time': {
    meaning: 'The entry is older than the one before it.',
    advice: 'Compare the clocks of the servers. The amounts are not affected.',
  },
  'ahead-of-clock': {
    meaning: 'The newest entry of the account is dated more than a minute ahead of the clock.',
    advice: 'Correct the clock of the process that logged accounts_ahead_of_clock. Nothing else is needed.',
  },
  'hold-out': {
    meaning:
      'The account holds another amount for payments than its pending transfers and authorizations add up to.',
    advice:
      'Compare the pending transfers of the account with its holds: its available balance is wrong until both agree.',
  },
  'hold-in': {
    meaning: 'The account expects another amount than the pending transfers to it add up to.',
    advice: 'Compare the pending transfers to the account with its expected credits.',
  },
  'entry-held': {
    meaning: 'The entry changes what is held by another amount than its transfer.',
    advice: 'Compare the entry with its transfer: the available balance since then is wrong.',
  },
  'entry-transfer': {
    meaning: 'The entry does not fit its transfer in account, amount, status or time.',
    advice:
      'Compare both sides of the posting with the transfer, and the transfer with the order in the audit.',
  },
  'transfer-entries': {
    meaning: 'The transfer has other entries than its status demands.',
    advice: 'Compare the entries on both accounts with the status. Reverse and repeat nothing before that.',
  },
  'transfer-id': {
    meaning: 'The id of the transfer is not recorded as used, so the same order could move money twice.',
    advice: 'Tell the app to repeat no order with this id, and look for the row in a backup.',
  },
  'used-id': {
    meaning: 'The id is recorded as used, and its transfer has another id or is missing.',
    advice: inABackup,
  },
  'transfer-accounts': {
    meaning: 'The transfer names another account or currency than the one that it moved.',
    advice: 'Compare the transfer with the entries on both accounts.',
  },
  'pending-terms': {
    meaning: 'The transfer is pending without anything to wait for, or waits without being pending.',
    advice: 'Open the transfer: nothing decides on it by itself. Compare it with a backup.',
  },
  'core-instruction': {
    meaning: 'The transfer and its instruction to the core do not agree.',
    advice: 'Ask the core for the outcome of the instruction, and compare status and amount.',
  },
  reversal: {
    meaning: 'The reversal does not return one completed transfer in full.',
    advice: 'Compare the reversal with the transfer that it takes back.',
  },
  'loan-payment': {
    meaning: 'The parts of a loan payment do not add up to the payment.',
    advice: 'Compare interest, fees and principal with the core.',
  },
  'loan-dues': {
    meaning: 'The interest and fees of the loan are more than its debt.',
    advice: 'Import the figures of the loan from the core again.',
  },
  'limit-counter': {
    meaning: 'A counter of a limit differs from the transfers of its period.',
    advice:
      'Nothing is wrong if the limit or the time zone changed in the period. Otherwise watch the limit until the period ends.',
  },
  'limit-use': {
    meaning: 'The part of a limit that the transfer may return does not fit the transfer.',
    advice: 'Compare the transfer with the limit; the counter ends with its period.',
  },
  'contribution-use': {
    meaning: 'The contribution to an IRA counts for no year.',
    advice: 'Add the contribution to the member’s year by hand, and tell the core.',
  },
  'core-entry': {
    meaning: 'An entry of the core has no transaction of the core.',
    advice: 'Compare the account with the postings of the core on that day.',
  },
  'core-transaction': {
    meaning: 'A transaction of the core has no entry, or one of another amount or kind.',
    advice: 'Compare the account with the postings of the core on that day.',
  },
  'event-gap': {
    meaning: 'An entry of a transfer is in no event, or in more than one.',
    advice: tellReaders,
  },
  'event-entry': {
    meaning: 'An event names another entry than that of its transfer.',
    advice: tellReaders,
  },
  'event-transfer': {
    meaning: 'An event tells of another status than its transfer has, or of no transfer.',
    advice: tellReaders,
  },
} as const satisfies Readonly<Record<string, KindOfFinding>>;

export type FindingKind = keyof typeof kindsOfFindings;

export const findingKinds = Object.keys(kindsOfFindings) as readonly FindingKind[];
