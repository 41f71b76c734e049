// The service under `npm run dev`. It loads the packages, which take longer than the sources and do not change; then it waits
// for a message, loads the sources as they are now and serves. scripts/dev.ts keeps one such process waiting.
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const turn = once(process, 'message');
const leave = () => process.exit();
process.once('disconnect', leave);

const files = globSync('src/**/*.ts', { exclude: ['**/*.test.ts'] });
const imported = files.flatMap((file) => [
  ...readFileSync(file, 'utf8').matchAll(/^import (?!type )[^;]*? from '([^.'][^']*)';$/gm),
]);
const packages = new Set(imported.flatMap(([, name = '']) => (name.startsWith('node:') ? [] : name)));
// A package that is missing fails again where a source imports it, and is reported there.
await Promise.allSettled([...packages].map((name) => import(name)));

await turn;
process.off('disconnect', leave);
process.disconnect?.();
// The workers of a cluster run the same command.
process.argv.splice(1, process.argv.length, main, 'serve');
await import(main);
