import { marked } from 'marked';
import type { ProblemCode } from '../../shared/problem.ts';
import type { Page } from '../operation.ts';
import { pathNotFound, problemCodes, problemKinds } from '../problems.ts';
import { htmlPage } from './html.ts';
import { readProblemPage } from './problem-pages.ts';

export const problemsPage: Page = {
  path: '/problems',
  async handle() {
    const rows = problemCodes.map((code) => {
      const { status, title } = problemKinds[code];
      return `<tr><td>${status}</td><td><a href="/problems/${code}"><code>${code}</code></a></td><td>${title}</td></tr>`;
    });
    const body = `<h1>Problems</h1>
<p>Every refusal is a problem document (<a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457</a>). Its <code>code</code>
is for programs, its <code>type</code> opens the page about it, and its <code>instance</code> names this one occurrence in
the service’s log.</p>
<table>
<thead><tr><th>Status</th><th>Code</th><th>Title</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`;
    return htmlPage('Problems', body);
  },
};

export const problemPage: Page = {
  path: '/problems/{code}',
  async handle({ params }) {
    const code = problemCodes.find((known) => known === params.code);
    if (code === undefined) throw pathNotFound();
    return render(code);
  },
};

async function render(code: ProblemCode) {
  return htmlPage(
    problemKinds[code].title,
    await marked.parse(readProblemPage(code).markdown, { async: true }),
  );
}
