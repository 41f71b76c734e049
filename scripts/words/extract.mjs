// Takes the prose out of a source file: comments, string literals and test names, each with its line.

/** Stands in a string for a value that is put in at run time. */
export const valueMark = '▢';

const slash = new Set(
  'ts tsx mts cts js jsx mjs cjs go rs zig java kt kts c h cc cpp hpp cs swift scala css'.split(' '),
);
const script = new Set('ts tsx mts cts js jsx mjs cjs'.split(' '));
const hash = new Set('sh bash py rb yml yaml toml conf'.split(' '));

/** 'script', 'slash', 'hash', 'sql', 'markdown', or undefined for a file that is not read. */
export function languageOf(file, firstLine = '') {
  const name = file.slice(file.lastIndexOf('/') + 1);
  const extension = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '';
  if (extension === 'md') return 'markdown';
  if (extension === 'sql') return 'sql';
  if (script.has(extension)) return 'script';
  if (slash.has(extension)) return 'slash';
  if (hash.has(extension)) return 'hash';
  return extension === '' && /^#!.*\b(sh|bash|python3?|ruby)\b/.test(firstLine) ? 'hash' : undefined;
}

/** Returns the comments (adjacent line comments as one) and the string literals of a source text. */
export function readSource(text, language) {
  const comments = [];
  const strings = [];
  if (language === 'sql') scanSql(text, comments, strings);
  else if (language === 'hash') scanHash(text, comments);
  else scanSlash(text, comments, strings, language === 'script');
  const lineAt = lineFinder(text);
  const place = ({ start, body, kind }) => ({
    line: lineAt(start),
    endLine: lineAt(start + body.length),
    body,
    kind,
    start,
  });
  return { comments: joinLines(comments.map(place)).map(clean), strings: strings.map(place) };
}

function scanSlash(text, comments, strings, isScript) {
  let previous = '';
  let at = 0;
  while (at < text.length) {
    const char = text[at];
    const two = text.slice(at, at + 2);
    if (two === '//') {
      const end = endOfLine(text, at);
      comments.push({ start: at, body: text.slice(at, end), kind: 'line' });
      at = end;
    } else if (two === '/*') {
      const close = text.indexOf('*/', at + 2);
      const end = close < 0 ? text.length : close + 2;
      comments.push({ start: at, body: text.slice(at, end), kind: 'block' });
      at = end;
    } else if (char === '"' || (char === "'" && isScript)) {
      const end = endOfString(text, at);
      strings.push({ start: at, body: text.slice(at + 1, end - 1), kind: char });
      at = end;
      previous = '"';
    } else if (char === "'") {
      // A character of Rust, Go, Java or C; Rust's lifetimes have no closing quote.
      const literal = /^'(\\.[^']*|[^'\\])'/u.exec(text.slice(at, at + 12));
      at += literal ? literal[0].length : 1;
      previous = '"';
    } else if (char === '`' && isScript) {
      const end = scanTemplate(text, at, comments, strings);
      at = end;
      previous = '"';
    } else if (char === '/' && isScript && startsRegExp(previous, text, at)) {
      at = endOfRegExp(text, at);
      previous = '"';
    } else {
      if (!/\s/.test(char)) previous = char;
      at += 1;
    }
  }
}

function startsRegExp(previous, text, at) {
  if (previous === '' || '(,=:[!&|?{};+-*%<>~^'.includes(previous)) return true;
  return /\b(return|typeof|case|in|of|do|else|void|yield|await)\s*$/.test(
    text.slice(Math.max(0, at - 12), at),
  );
}

function endOfRegExp(text, start) {
  let inClass = false;
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '\n') return start + 1;
    else if (text[at] === '[') inClass = true;
    else if (text[at] === ']') inClass = false;
    else if (text[at] === '/' && !inClass) return at + 1;
  }
  return text.length;
}

function endOfString(text, start) {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === text[start]) return at + 1;
    else if (text[at] === '\n') return at;
  }
  return text.length;
}

/** A template literal; each substitution stands as `valueMark` in the string. The SQL comments in it are comments. */
function scanTemplate(text, start, comments, strings) {
  let body = '';
  let at = start + 1;
  while (at < text.length && text[at] !== '`') {
    if (text[at] === '\\') {
      body += text.slice(at, at + 2);
      at += 2;
    } else if (text.startsWith('${', at)) {
      const end = endOfSubstitution(text, at + 2);
      scanSlash(text.slice(at + 2, end), [], [], true);
      body += valueMark;
      at = end + 1;
    } else {
      body += text[at];
      at += 1;
    }
  }
  const raw = text.slice(start + 1, at);
  for (const match of raw.matchAll(/(?<=^|\s)--\s[^\n]*/g)) {
    comments.push({ start: start + 1 + match.index, body: match[0], kind: 'line' });
  }
  strings.push({ start, body, kind: '`' });
  return at + 1;
}

function endOfSubstitution(text, start) {
  let depth = 1;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (char === '{') depth += 1;
    else if (char === '}') {
      depth -= 1;
      if (depth === 0) return at;
    } else if (char === "'" || char === '"') at = endOfString(text, at) - 1;
    else if (char === '`') at = scanTemplate(text, at, [], []) - 1;
  }
  return text.length;
}

/** The body of a dollar-quoted function is read as SQL as well. */
function scanSql(text, comments, strings) {
  let at = 0;
  while (at < text.length) {
    if (text.startsWith('--', at)) {
      const end = endOfLine(text, at);
      comments.push({ start: at, body: text.slice(at, end), kind: 'line' });
      at = end;
    } else if (text.startsWith('/*', at)) {
      const close = text.indexOf('*/', at + 2);
      const end = close < 0 ? text.length : close + 2;
      comments.push({ start: at, body: text.slice(at, end), kind: 'block' });
      at = end;
    } else if (text[at] === "'") {
      let end = at + 1;
      while (end < text.length && (text[end] !== "'" || text[end + 1] === "'"))
        end += text[end] === "'" ? 2 : 1;
      strings.push({ start: at, body: text.slice(at + 1, end).replaceAll("''", "'"), kind: "'" });
      at = end + 1;
    } else at += 1;
  }
}

function scanHash(text, comments) {
  for (const match of text.matchAll(/(?<=^|[ \t])#(?![!])[^\n]*/gm)) {
    // An even number of quotes before it on its line: it does not stand in a string.
    const before = text.slice(text.lastIndexOf('\n', match.index) + 1, match.index);
    const isQuoted = [/'/g, /"/g].some((quote) => (before.match(quote)?.length ?? 0) % 2 === 1);
    if (!isQuoted) comments.push({ start: match.index, body: match[0], kind: 'line' });
  }
}

function endOfLine(text, at) {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

function lineFinder(text) {
  const ends = [...text.matchAll(/\n/g)].map((match) => match.index);
  return (at) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] < at) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

function joinLines(comments) {
  const joined = [];
  for (const comment of comments) {
    const last = joined.at(-1);
    const goesOn = last?.kind === 'line' && comment.kind === 'line' && comment.line === last.endLine + 1;
    if (goesOn) {
      last.body += `\n${comment.body}`;
      last.endLine = comment.endLine;
    } else joined.push({ ...comment });
  }
  return joined;
}

function clean({ line, body }) {
  const text = body
    .replace(/^\s*(\/\*+!?|\/\/[/!]?|--+|#+)/, '')
    .replace(/\*+\/\s*$/, '')
    .replace(/\n[ \t]*(\*+(?!\/)|\/\/[/!]?|--+|#+)/g, '\n');
  return { line, text };
}

const suites = new Set(['describe', 'suite', 'context']);
const callOfTest =
  /\b(test|it|describe|suite|context(?=\s*\(|\.(?:test|it)\b))((?:\.\w+)*)\s*\(\s*(?=['"`])/g;

/** Names given literally to test(), it() and their kin; a name that a variable holds is not seen. */
export function readTestNames(text, strings) {
  const lineAt = lineFinder(text);
  const byStart = new Map(strings.map((string) => [string.start, string]));
  return [...text.matchAll(callOfTest)].flatMap((match) => {
    const name = byStart.get(match.index + match[0].length);
    if (name === undefined || /[\w$]/.test(text[match.index - 1] ?? '')) return [];
    const isGroup = suites.has(match[2] === '' || match[1] !== 'context' ? match[1] : 'test');
    return [{ line: lineAt(match.index), text: plainText(name.body), isGroup }];
  });
}

/** String literals that are sentences for a reader: four words or more, and no SQL. */
export function readTexts(strings) {
  return strings.flatMap(({ line, body }) => {
    const text = plainText(body);
    const words = text.match(/(?<![\w./:@<>=-])[A-Za-z][a-z'’]*(?![\w/@<>=])/g) ?? [];
    const isCode =
      /^\s*(select|insert|update|delete|with|create|alter|drop|set|copy|grant|lock|begin|import|const)\b/i.test(
        text,
      );
    const isList = words.length > 30 && !/[.,:;]/.test(text);
    return words.length < 4 || isList || isCode || /[{};=]\s*\n|\b(SELECT|FROM|WHERE|VALUES)\b/.test(text)
      ? []
      : [{ line, text }];
  });
}

function plainText(body) {
  return body.replace(/\\([nt])/g, ' ').replace(/\\(['"`\\$])/g, '$1');
}

/** Paragraphs, headings, items of lists and cells of tables; code and addresses are left out. */
export function readMarkdown(text) {
  const blocks = [];
  let fence;
  let open;
  text
    .replace(/<!--[\s\S]*?-->/g, (comment) => comment.replace(/[^\n]/g, ' '))
    .split('\n')
    .forEach((raw, index) => {
      const marker = /^\s*(?:[-*+]\s+|\d+\.\s+|>\s*)*(`{3,}|~{3,})/.exec(raw);
      if (fence !== undefined) {
        if (marker?.[1].startsWith(fence)) fence = undefined;
        return;
      }
      if (marker) {
        fence = marker[1];
        open = undefined;
        return;
      }
      const startsBlock = /^\s*([-*+]\s|\d+\.\s|#|\||>)/.test(raw);
      const line = raw.replace(/^\s*([-*+]|\d+\.|#+|>)\s+/, '');
      if (line.trim() === '' || /^[\s|:-]+$/.test(line)) open = undefined;
      else if (/^\s*\|/.test(line)) {
        for (const cell of line.split('|'))
          if (cell.trim() !== '') blocks.push({ line: index + 1, text: cell });
        open = undefined;
      } else if (open !== undefined && !startsBlock) open.text += `\n${line}`;
      else {
        open = { line: index + 1, text: line };
        blocks.push(open);
        if (/^\s*#/.test(raw)) open = undefined;
      }
    });
  return blocks;
}
