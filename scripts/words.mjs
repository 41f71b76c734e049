// Counts headless clauses ("what is paid", "whoever asks") in a project's comments, documents and texts, and the names of
// tests that are no whole sentence.
//
//   node scripts/words.mjs [FOLDER] [--list] [--check] [--sample N --seed S]
//
// --list prints each hit as file:line. --check fails above the limits below. --sample draws N comments and N sentences of
// documents for a reader who has not seen them; the same seed draws the same ones.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { languageOf, readMarkdown, readSource, readTestNames, readTexts } from './words/extract.mjs';
import { faultOf } from './words/fragments.mjs';
import { countWords, findHeadless, proseOf } from './words/headless.mjs';

/** Clauses per 1,000 words; for the names of tests, how many may be no whole sentence. */
const limits = { comments: 1.5, docs: 1.5, texts: 1.5, testNames: 0 };

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean' },
    check: { type: 'boolean' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});
const root = path.resolve(positionals[0] ?? fileURLToPath(new URL('..', import.meta.url)));

// `| head` closes the pipe early.
process.stdout.on('error', () => process.exit());

const found = { comments: [], docs: [], texts: [], testNames: [] };
for (const file of filesOf(root)) collect(file);

if (options.sample) printSample(Number(options.sample), Number(options.seed));
else process.exitCode = report() || !options.check ? 0 : 1;

/** The files that git knows, or all; without packages and without files that .gitattributes marks as generated. */
function filesOf(folder) {
  let names;
  try {
    const given = { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'ignore'] };
    names = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z', '.'], given)
      .split('\0')
      .filter(Boolean);
    if (names.length === 0) throw new Error('git knows none of the files');
  } catch {
    names = readdirSync(folder, { recursive: true });
  }
  const generated = generatedIn(folder);
  return names
    .filter(
      (name) =>
        !/(^|\/)(node_modules|vendor|dist|target|third_party)\/|\.min\.js$/.test(name) &&
        !generated.has(name),
    )
    .sort();
}

function generatedIn(folder) {
  const attributes = readIfText(path.join(folder, '.gitattributes')) ?? '';
  return new Set(
    [...attributes.matchAll(/^(\S+)\s.*linguist-generated/gm)].map(([, name]) => name.replace(/^\//, '')),
  );
}

function readIfText(file) {
  try {
    const text = readFileSync(file, 'utf8');
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

function collect(file) {
  if (languageOf(file) === undefined && path.extname(file) !== '') return;
  const text = readIfText(path.join(root, file));
  const language = text === undefined ? undefined : languageOf(file, text.slice(0, text.indexOf('\n')));
  if (language === undefined) return;
  if (language === 'markdown') {
    for (const block of readMarkdown(text)) found.docs.push({ file, ...block });
    return;
  }
  const { comments, strings } = readSource(text, language);
  for (const comment of comments) found.comments.push({ file, ...comment });
  if (isTest(file)) {
    for (const name of readTestNames(text, strings)) found.testNames.push({ file, ...name });
  } else {
    for (const one of readTexts(strings)) found.texts.push({ file, ...one });
  }
}

function isTest(file) {
  return /\.(test|spec)\.\w+$|(^|\/)(test|tests|__tests__)\//.test(file);
}

/** Prints the counts; true if all are within the limits. */
function report() {
  const rows = ['comments', 'docs', 'texts'].map((kind) => clauses(kind, found[kind]));
  return [...rows, names()].every(Boolean);
}

function clauses(kind, blocks) {
  let words = 0;
  let hits = 0;
  for (const { file, line, text } of blocks) {
    words += countWords(text);
    const headless = findHeadless(text);
    hits += headless.length;
    if (options.list)
      for (const hit of headless) process.stdout.write(`${file}:${line + hit.line}: ${kind}: ${hit.about}\n`);
  }
  const density = words === 0 ? 0 : (hits / words) * 1000;
  print(
    kind,
    `${hits} headless clauses in ${words} words: ${density.toFixed(1)} per 1,000`,
    density <= limits[kind],
    limits[kind],
  );
  return density <= limits[kind];
}

function names() {
  const judged = found.testNames.map((name) => ({
    ...name,
    fault: name.isGroup ? groupFault(name.text) : faultOf(name.text),
  }));
  const faults = judged.filter(({ fault }) => fault !== undefined);
  const meaning = {
    wh: 'begins with a wh-word',
    opening: 'needs a name before it',
    verb: 'has no subject or no verb',
  };
  if (options.list) {
    for (const { file, line, text, fault } of faults)
      process.stdout.write(`${file}:${line}: test name: ${meaning[fault]}: ${text}\n`);
  }
  const count = (kind) => faults.filter(({ fault }) => fault === kind).length;
  const isWithin = faults.length <= limits.testNames;
  print(
    'test names',
    `${judged.length}: ${count('wh')} begin with a wh-word, ${count('opening') + count('verb')} are fragments`,
    isWithin,
    limits.testNames,
  );
  return isWithin;
}

/** A group adds context and may be a noun. */
function groupFault(name) {
  return faultOf(name) === 'wh' ? 'wh' : undefined;
}

function print(kind, text, isWithin, limit) {
  const verdict =
    options.check && !isWithin ? ` (limit ${limit}; see STYLE.md, node scripts/words.mjs --list)` : '';
  process.stdout.write(`${kind.padEnd(10)} ${text}${verdict}\n`);
}

function printSample(size, seed) {
  const random = mulberry32(seed);
  const sentences = found.docs.flatMap(({ file, line, text }) =>
    sentencesOf(text).map((one) => ({ file, line, text: one })),
  );
  const comments = found.comments.map((one) => ({ ...one, text: oneLine(proseless(one.text)) }));
  for (const [title, all] of [
    ['comments', comments],
    ['sentences of documents', sentences],
  ]) {
    const long = all.filter(({ text }) => countWords(text) >= 4);
    process.stdout.write(`# ${Math.min(size, long.length)} of ${long.length} ${title}, seed ${seed}\n`);
    for (const { file, line, text } of draw(long, size, random))
      process.stdout.write(`${file}:${line}: ${text}\n`);
  }
}

function proseless(text) {
  return text.replace(/^\s*(biome-ignore|eslint-\S+|@ts-\S+).*/, '');
}

function oneLine(text) {
  return text.replace(/\s+/g, ' ').trim();
}

function sentencesOf(text) {
  return oneLine(text)
    .split(/(?<=[.!?])\s+(?=[A-Z`"(])/)
    .filter((one) => countWords(proseOf(one)) > 0);
}

function draw(all, size, random) {
  const left = [...all];
  return Array.from(
    { length: Math.min(size, left.length) },
    () => left.splice(Math.floor(random() * left.length), 1)[0],
  );
}

/** A small seeded generator (public domain, Tommy Ettinger): uniform on [0, 1). */
function mulberry32(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
