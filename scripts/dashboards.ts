import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly refId: string }[];
}

/** Every query of every dashboard in the folder, with its panel. */
export function queriesOf(folder: string): { readonly place: string; readonly expr: string }[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const { panels }: { panels: Panel[] } = JSON.parse(readFileSync(path.join(folder, name), 'utf8'));
      return panels.flatMap(({ title, targets = [] }) =>
        targets.map(({ expr, refId }) => ({ place: `${name}: ${title} ${refId}`, expr })),
      );
    });
}
