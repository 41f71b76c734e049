// Judges whether the name of a test is a whole sentence that makes sense alone. There is no grammar here, only a list of
// verbs and of openings; a doubtful name passes. Known limits:
// - A verb that is also a noun ("orders", "limits") counts as a verb after a singular noun, and as the first word before
//   an article, a number or a pronoun.
// - A past participle is never taken for the verb of a sentence.
// - A name that begins with a value put in at run time is not judged.
import { valueMark } from './extract.mjs';

const bases =
  `accept accumulate acknowledge act add admit advance advertise agree alert allow announce answer append apply approve
  arrive ask assert assign attach attest audit authenticate authorize avoid balance become begin believe belong bind block bound break
  bring build burst buy bypass cache call cancel carry catch cause challenge change charge check choose claim clear close coerce
  collect come commit compare compile complete compress compute conflict connect consume contain continue convert copy correct cost
  count cover crash create credit cross cut date deactivate debit declare decline decode decrease decrypt default defer deliver deny
  depend derive describe detect differ disable disappear discard disclose dispatch distinguish divide double downgrade drain draw drop
  duplicate echo elapse emit enable encode encrypt end enforce enroll ensure enter escape exceed exclude execute exhaust exist exit
  expect expire explain expose extend fail fall fetch fill filter find finish fire fit flag flush follow forbid force forget form
  format free freeze gain generate get give go grant group grow guard guess handle happen hash have hear help hide hit hold honor
  identify idle ignore import include increase increment index infer inform inherit initiate insert install invalidate invent issue
  join judge keep kill know lack land last lead leak learn leave let lie lift limit link list listen load lock log look lose lower
  mail make map mark match matter mean measure meet mend merge migrate mint miss modify mount move multiply name narrow need negotiate
  normalize note notice notify number occur offer omit open order overflow overlap override overtake overwrite own page pair parse
  pass pause pay permit persist pick pin place play point poll post precede prefer preserve prevent print proceed process produce
  prohibit promise protect prove provide publish pull push put query queue quote race raise reach react read rebuild receive recognize
  recompute reconcile reconnect record recover redirect reduce refer refresh refuse register reject relate relax release reload remain
  remember remove rename render reopen reorder repair repeat replace replay reply report represent request require reread reserve reset
  resolve resort respect respond restart restore restrict resume retain retry return reuse reveal reverse revert review revoke rise roll
  rotate round route run save scale scan schedule seal search see seem select send separate serialize serve set settle shadow share shed
  shorten show shut shutdown sign signal skip slow sort speak specify spend split spread stand start state stay step stop store stream
  strip submit subtract succeed sum supply support suspend swallow switch take tell test throttle throw tie tighten time tolerate touch
  trace track transfer translate travel treat trigger trim truncate trust try turn unlock update upgrade use validate vanish vary verify
  violate die win say stall hand estimate wait wake want warn weigh withdraw wrap write yield outlive undo redo exhaust agree belong equal ends comply delay delete halve obtain secure plan normalize audit`
    .split(/\s+/)
    .filter(Boolean);

function third(base) {
  if (/(s|x|z|ch|sh|o)$/.test(base)) return `${base}es`;
  return /[^aeiou]y$/.test(base) ? `${base.slice(0, -1)}ies` : `${base}s`;
}

const plain = new Set(bases);
const thirds = new Set([...bases.map(third), 'reuses', 'cancels', 'has', 'does', 'goes', 'undoes']);
const auxiliaries = new Set(
  `is are was were has have had do does did can cannot may might must shall should will would could need needs isn't aren't
   doesn't don't didn't can't won't hasn't haven't wasn't weren't`
    .split(/\s+/)
    .filter(Boolean),
);
/** Verbs that are more often plural nouns in the names of tests. */
const ambiguous = new Set(
  `accounts acts alerts answers audits balances blocks bounds breaks calls challenges changes charges checks claims commits conflicts
   copies costs counts credits cuts dates debits defaults drops ends exits filters forms formats grants groups guards guesses hashes
   helps holds imports indexes issues joins keys links lists loads locks logs looks maps marks matches measures names needs notes
   notices numbers offers orders pages pairs parses passes pauses places plays points polls posts prints processes promises queries
   queues quotes races raises reads records refreshes releases replays replies reports requests resets restarts retries returns
   reverses reviews runs scales scans schedules seals searches sets settles shares signs signals sorts splits stands starts states
   steps stops stores streams sums supplies supports switches tests times traces tracks transfers trusts tries turns updates
   upgrades uses values waits writes`
    .split(/\s+/)
    .filter(Boolean),
);
const subordinators = new Set(
  'that which who whom whose what when if where while because until unless since whenever wherever whether how why though although'.split(
    ' ',
  ),
);
const prepositions = new Set(
  'of to for by from with without at on in into as about between under over per within during behind'.split(
    ' ',
  ),
);
const determiners = new Set(
  'a an the this that these those its their his her our your my no every each any all some both one two three several only'.split(
    ' ',
  ),
);
const articles = new Set('a an the its their his her our your my no every each'.split(' '));
const irregularPasts = new Set(
  'left lost made found held paid took told came went got wrote read kept sent gave began knew'.split(' '),
);
const dependentOpenings = new Set(
  `and or but nor so then also too not of which that who whom whose it its they their them this these those he she his her such
   same likewise otherwise nor even for to by from with without at on in as than because if when unless while where until after before
   since into between under over within during likewise again still`
    .split(/\s+/)
    .filter(Boolean),
);
const plurals = new Set(
  'they we you i people both all others some many few most children two three four none'.split(' '),
);

/** Undefined for a whole sentence, otherwise the fault found: 'opening', 'wh' or 'verb'. */
export function faultOf(name) {
  // A section or a rule may stand before a colon: "RFC 6749 3.2: …".
  const text = name.replace(/^(RFC|section|rule|ADR)\b[^:]*:\s*/i, '').trim();
  const words = text.toLowerCase().match(/▢|-*[\p{L}\p{N}_][\p{L}\p{N}_'’.-]*|[,:;()—]/gu) ?? [];
  const first = words[0] ?? '';
  if (/^(what|who|whom|whose|whoever|whatever|whomever)$/.test(first)) return 'wh';
  if (first === valueMark) return undefined;
  if (dependentOpenings.has(first)) return 'opening';
  if (hasMainVerb(words)) return undefined;
  // The verb may stand in the value put in at run time.
  return words.includes(valueMark) ? undefined : 'verb';
}

function hasMainVerb(words) {
  let owed = 0;
  for (const [at, word] of words.entries()) {
    if (subordinators.has(word) && at > 0 && !(word === 'that' && /^(is|are)$/.test(words[at - 1]))) {
      owed += 1;
      continue;
    }
    if (!isFiniteVerb(words, at) && !(owed > 0 && isPast(words, at))) continue;
    if (owed === 0) return true;
    owed -= 1;
  }
  return false;
}

function isFiniteVerb(words, at) {
  const word = words[at].replace(/’/g, "'");
  const previous = words[at - 1] ?? '';
  const next = words[at + 1] ?? '';
  const isAfterRelative = at > 1 && /^(that|which|who)$/.test(previous);
  if (auxiliaries.has(word)) return true;
  if (ambiguous.has(word)) {
    if (at === 0) return next !== '' && next !== 'of' && !auxiliaries.has(next);
    if (isAfterRelative) return true;
    return !articles.has(previous) && !prepositions.has(previous) && followsVerb(next);
  }
  if (thirds.has(word) || /(izes|ifies)$/.test(word)) {
    return at === 0 || isAfterRelative || !articles.has(previous);
  }
  if (at === 0 || !plain.has(word)) return false;
  if (isAfterRelative || isPlural(previous)) return true;
  const isAfterNoun =
    !/^(to|not|and|or)$/.test(previous) && !articles.has(previous) && !prepositions.has(previous);
  return isAfterNoun && (determiners.has(next) || /ly$/.test(next));
}

/** The past of a relative clause: "a day that a zone left out is skipped". */
function isPast(words, at) {
  const isAfterAuxiliary =
    auxiliaries.has(words[at - 1]) || /^(not|be|been|never|once|already|\w+ly)$/.test(words[at - 1] ?? '');
  return !isAfterAuxiliary && (/[a-z]ed$/.test(words[at]) || irregularPasts.has(words[at]));
}

const followsVerb = (next) =>
  next === '' ||
  determiners.has(next) ||
  (prepositions.has(next) && next !== 'of') ||
  /^(it|them|itself|once|twice|nothing|only|there|still|together|alone|up|out|back|off|down|no|not|,|\d.*|▢|\w+ly|\w+ed)$/.test(
    next,
  );

const isPlural = (word) =>
  plurals.has(word) || (/[^s]s$/.test(word) && !/(us|is|ss)$/.test(word) && !determiners.has(word));
