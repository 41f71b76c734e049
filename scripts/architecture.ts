// The generated parts of ARCHITECTURE.md: a picture and two tables, from the maps that the tests of test/house enforce.
import { folders } from '../test/house/import-table.ts';
import { readsEverything, tableOwners } from '../test/house/table-owners.ts';

/** Every folder imports these two, so the picture leaves them out. */
const everywhere = ['shared', 'storage'];

/** The imports between folders. An edge that a longer path implies is left out. */
export function importDiagram(): string {
  const edges = Object.entries(folders).flatMap(([from, { imports }]) =>
    imports.flatMap((to) =>
      everywhere.includes(to) || imports.some((other) => other !== to && reaches(other, to))
        ? []
        : [`  ${from} --> ${to}`],
    ),
  );
  return ['```mermaid', 'flowchart TD', ...edges, '```'].join('\n');
}

function reaches(from: string, to: string): boolean {
  const { imports = [] } = folders[from] ?? {};
  return imports.includes(to) || imports.some((next) => reaches(next, to));
}

export function folderTable(): string {
  const rows = Object.entries(folders).map(([folder, { purpose, imports }]) => {
    const others = imports.filter((name) => name !== 'shared').map((name) => `\`${name}\``);
    return `| \`${folder}\` | ${purpose} | ${others.join(', ') || 'nothing'} |`;
  });
  return ['| folder | purpose | may import, beside `shared` |', '|---|---|---|', ...rows].join('\n');
}

export function tableOwnersTable(): string {
  const byOwner = Map.groupBy(Object.entries(tableOwners), ([, { owner }]) => owner);
  const rows = [...byOwner].flatMap(([owner, tables]) => {
    const byReaders = Map.groupBy(tables, ([, { readers = [] }]) =>
      readers.map((name) => `\`${name}\``).join(', '),
    );
    return [...byReaders].map(
      ([readers, names]) =>
        `| \`${owner}\` | ${names.map(([name]) => `\`${name}\``).join(', ')} | ${readers} |`,
    );
  });
  const everything = readsEverything.map((name) => `\`${name}\``).join(' and ');
  return [`| owner | tables | readers, beside ${everything} |`, '|---|---|---|', ...rows].join('\n');
}
