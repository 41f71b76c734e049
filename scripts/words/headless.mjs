// Finds headless relative clauses: "what is paid", "who asks is refused", "whoever comes". A clause with a head noun
// ("the client who pays", "a person whose card expired") is none. The limits of this reading:
// - "what" is always counted, also in a question and in "what kind of": texts by others have 0.3 of all these per 1,000 words.
// - The word before "who" and "whose" decides. It is taken for a noun unless it is in the list below; "refused, who …"
//   after a comma is taken for a clause of the noun before the comma.
import { valueMark } from './extract.mjs';

const always = new Set(['what', 'whatever', 'whoever', 'whomever', 'whosoever']);
const relative = new Set(['who', 'whom', 'whose']);

const notNouns = new Set(
  `a an the this that these of to for by from with without at on in into than as about against between among over under
   per like unlike through toward towards upon within behind beside besides except beyond near
   and or but nor if when where while because until unless before after since so though although whether then else how why
   is are was were be been being am do does did has have had can could may might must shall should will would
   not only also even just exactly never always again still already too both either neither no yes
   tell tells told say says said know knows knew known see sees saw seen ask asks asked decide decides decided determine
   determines show shows shown check checks checked find finds found learn learns read reads record records recorded
   matter matters mean means meant name named write writes hear hears remember remembers forget forgets let lets
   refuse refuses refused serve serves keep keeps stop stops admit admits want wants need needs depend depends judge judges
   prove proves identify identifies choose chooses define defines control controls believe believes wonder wonders`
    .split(/\s+/)
    .filter(Boolean),
);
const prepositions = new Set(
  'of to for by from with without at on in about against among between through upon than'.split(' '),
);

/** Prose without code, quotations, addresses and marks, line by line as before; code and quotations stand as one noun. */
export function proseOf(text) {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, keepLines('$1'))
    .replace(/`[^`]*`/g, keepLines(' code '))
    .replace(/"[^"]{1,80}"|“[^”]{1,80}”/g, keepLines(' quotation '))
    .replaceAll(valueMark, ' value ')
    .replace(/\bhttps?:\/\/\S+/g, ' address ')
    .replace(/<[^>\n]{1,80}>/g, ' ')
    .replace(/[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}/g, '')
    .replace(/\{@\w+ ([^}\n]*)\}|@(param|returns?|throws|type|see)\b/g, ' $1 ');
}

function keepLines(replacement) {
  return (whole, inner) => {
    const kept = replacement.replace('$1', () => inner);
    return kept + '\n'.repeat(whole.split('\n').length - kept.split('\n').length);
  };
}

function tokensOf(text) {
  let line = 0;
  return [...proseOf(text).matchAll(/[\p{L}\p{N}][\p{L}\p{N}'’-]*|[.:;?!()—–,"“”]|\n\s*\n|\n/gu)].flatMap(
    ([token]) => {
      const at = { token, line };
      line += token.split('\n').length - 1;
      return token === '\n' ? [] : [at];
    },
  );
}

const isWord = (token) => token !== undefined && /\p{L}/u.test(token);

export function countWords(text) {
  return tokensOf(text).filter(({ token }) => isWord(token)).length;
}

/** Each headless clause: the wh-word with the words around it, and its line, counted from the first line of the text. */
export function findHeadless(text) {
  const placed = tokensOf(text);
  const tokens = placed.map(({ token }) => token);
  let hasRelative = false;
  return placed.flatMap(({ token, line }, at) => {
    const word = token.toLowerCase();
    if (/^[.;?!:]$/.test(token)) hasRelative = false;
    const isCounted = always.has(word)
      ? !(tokens[at - 1]?.toLowerCase() === 'matter' && tokens[at - 2]?.toLowerCase() === 'no')
      : relative.has(word) && !hasHead(tokens, at, hasRelative);
    const isRelative = relative.has(word)
      ? !isCounted
      : /^(that|which)$/.test(word) && isNoun(tokens[at - 1]);
    if (isRelative) hasRelative = true;
    const about = tokens.slice(Math.max(0, at - 4), at + 6).join(' ');
    return isCounted ? [{ line, about: about.replace(/\s+/g, ' ').replace(/ ([.,:;?!)])/g, '$1') }] : [];
  });
}

function hasHead(tokens, at, hasRelative) {
  let before = at - 1;
  // "the client for whom", "two members, one of whom": the head stands before the preposition.
  if (tokens[at].toLowerCase() !== 'who' && prepositions.has(tokens[before]?.toLowerCase())) before -= 1;
  const previous = tokens[before]?.toLowerCase();
  if (previous === 'and' || previous === 'or' || previous === 'but') return hasRelative;
  if (previous === ',' || previous === ')') return isNoun(tokens[before - 1]) || hasRelative;
  return isNoun(previous);
}

function isNoun(token) {
  return token !== undefined && /[\p{L}\p{N}]$/u.test(token) && !notNouns.has(token.toLowerCase());
}
