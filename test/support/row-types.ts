import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Node, SourceFile } from 'typescript/unstable/ast';
import {
  isArrowFunction,
  isAsExpression,
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isElementAccessExpression,
  isFunctionDeclaration,
  isIdentifier,
  isNoSubstitutionTemplateLiteral,
  isObjectLiteralExpression,
  isParameterDeclaration,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isSatisfiesExpression,
  isShorthandPropertyAssignment,
  isStringLiteral,
  isTemplateExpression,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is';
import {
  API,
  type Checker,
  type Project,
  SymbolFlags,
  type Type,
  TypeFlags,
  type Symbol as TypeSymbol,
} from 'typescript/unstable/sync';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A member of a row type: its name and the kinds of values that it may hold, as `string`, `bigint[]` or `null`. */
export interface Member {
  readonly name: string;
  readonly isOptional: boolean;
  /** Undefined if the type says nothing about the kind, like `unknown`. */
  readonly kinds: ReadonlySet<string> | undefined;
}

/** One call of `query` in the sources. */
export interface QueryCall {
  /** file:line */
  readonly place: string;
  /** Patterns of the names of the statements that it may send; undefined if the sources do not show them. */
  readonly statements: readonly RegExp[] | undefined;
  /** Undefined if the type of its rows is a parameter of the function around it. */
  readonly members: readonly Member[] | undefined;
}

/** Reads the calls of `query` on storage's connections in `src`, with the types of their rows, from TypeScript's checker. */
export function readQueryCalls(): QueryCall[] {
  const api = new API({ cwd: root });
  try {
    const snapshot = api.updateSnapshot({ openProjects: [path.join(root, 'tsconfig.json')] });
    const [project] = snapshot.getProjects();
    if (project === undefined) throw new Error('tsconfig.json opens no project');
    return new Reader(project).readAll();
  } finally {
    api.close();
  }
}

class Reader {
  readonly #project: Project;
  readonly #checker: Checker;

  constructor(project: Project) {
    this.#project = project;
    this.#checker = project.checker;
  }

  readAll(): QueryCall[] {
    const files = this.#project.program
      .getSourceFileNames()
      .filter((file) => file.startsWith(path.join(root, 'src/')) && !/\.(test|d)\.ts$/.test(file));
    return files.flatMap((file) => {
      const source = this.#project.program.getSourceFile(file);
      return source === undefined ? [] : this.#readFile(source);
    });
  }

  #readFile(source: SourceFile): QueryCall[] {
    const calls: QueryCall[] = [];
    const visit = (node: Node): void => {
      const call = this.#readCall(node, source);
      if (call !== undefined) calls.push(call);
      node.forEachChild(visit);
    };
    visit(source);
    return calls;
  }

  #readCall(node: Node, source: SourceFile): QueryCall | undefined {
    if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return undefined;
    if (node.expression.name.text !== 'query') return undefined;
    const [statement] = node.arguments;
    const result = this.#argumentOf(this.#checker.getTypeAtLocation(node), 'Promise');
    const row = this.#argumentOf(result, 'Result');
    // A query of pg's own client has other results.
    if (statement === undefined || row === undefined) return undefined;
    const line = source.text.slice(0, node.getStart(source)).split('\n').length;
    return {
      place: `${path.relative(root, source.fileName)}:${line}`,
      statements: this.#namesOf(statement, new Map()),
      members: row.flags & TypeFlags.TypeParameter ? undefined : this.#membersOf(row, node),
    };
  }

  #argumentOf(type: Type | undefined, name: string): Type | undefined {
    if (type?.getSymbol()?.name !== name) return undefined;
    return this.#checker.getTypeArguments(type as never)[0];
  }

  #membersOf(row: Type, at: Node): Member[] {
    return this.#checker.getPropertiesOfType(row).map((symbol) => ({
      name: symbol.name,
      isOptional: (symbol.flags & SymbolFlags.Optional) !== 0,
      kinds: this.#kindsOf(this.#checker.getTypeOfSymbolAtLocation(symbol, at)),
    }));
  }

  #kindsOf(type: Type): ReadonlySet<string> | undefined {
    if (type.flags & TypeFlags.Union)
      return this.#joined((type as never as { getTypes(): readonly Type[] }).getTypes());
    if (type.flags & TypeFlags.Intersection) {
      // A branded type: the kind is that of its primitive.
      const parts = (type as never as { getTypes(): readonly Type[] }).getTypes();
      return parts.map((part) => this.#kindsOf(part)).find((kinds) => kinds !== undefined);
    }
    for (const [flags, kind] of kindsOfFlags) if (type.flags & flags) return new Set([kind]);
    if (this.#checker.isArrayLikeType(type)) {
      const [element] = this.#checker.getTypeArguments(type as never);
      const kinds = element && this.#kindsOf(element);
      return kinds && new Set([...kinds].filter((kind) => kind !== 'null').map((kind) => `${kind}[]`));
    }
    const name = type.getSymbol()?.name;
    return name === 'Date' || name === 'Uint8Array' || name === 'Buffer' ? new Set([name]) : undefined;
  }

  #joined(types: readonly Type[]): ReadonlySet<string> | undefined {
    const all = types.map((one) => this.#kindsOf(one));
    return all.includes(undefined) ? undefined : new Set(all.flatMap((kinds) => [...(kinds ?? [])]));
  }

  /** `values` has the arguments of the functions that are followed. */
  #namesOf(node: Node, values: ReadonlyMap<string, Node>): readonly RegExp[] | undefined {
    if (isParenthesizedExpression(node) || isAsExpression(node) || isSatisfiesExpression(node)) {
      return this.#namesOf(node.expression, values);
    }
    if (isConditionalExpression(node)) return this.#together([node.whenTrue, node.whenFalse], values);
    if (isBinaryExpression(node)) return this.#together([node.left, node.right], values);
    if (isElementAccessExpression(node)) return this.#namesOf(node.expression, values);
    if (isObjectLiteralExpression(node)) return this.#together([...node.properties], values);
    if (isPropertyAssignment(node)) return this.#namesOf(node.initializer, values);
    if (isCallExpression(node)) return this.#namesOfCall(node, values);
    if (isShorthandPropertyAssignment(node)) return this.#namesOf(node.name, values);
    if (isIdentifier(node) || isPropertyAccessExpression(node)) {
      const name = isIdentifier(node) ? node : node.name;
      const given = isIdentifier(node) ? values.get(node.text) : undefined;
      if (given !== undefined) return this.#namesOf(given, new Map());
      const declaration = this.#declarationOf(name);
      if (declaration === undefined || isParameterDeclaration(declaration)) return undefined;
      if (isVariableDeclaration(declaration) && declaration.initializer !== undefined) {
        return this.#namesOf(declaration.initializer, values);
      }
      return isPropertyAssignment(declaration) ? this.#namesOf(declaration, values) : undefined;
    }
    return undefined;
  }

  #together(nodes: readonly Node[], values: ReadonlyMap<string, Node>): readonly RegExp[] | undefined {
    const all = nodes.map((one) => this.#namesOf(one, values));
    return all.includes(undefined) ? undefined : all.flatMap((names) => names ?? []);
  }

  #namesOfCall(
    node: Node & { readonly expression: Node; readonly arguments: readonly Node[] },
    values: ReadonlyMap<string, Node>,
  ): readonly RegExp[] | undefined {
    if (!isIdentifier(node.expression)) return undefined;
    const [first] = node.arguments;
    if (node.expression.text === 'sql' || node.expression.text === 'counted') {
      return first === undefined ? undefined : this.#patternOf(first, values);
    }
    // A function that builds a statement: the statements that its body makes.
    const declaration = this.#declarationOf(node.expression);
    const target =
      declaration !== undefined && isVariableDeclaration(declaration) ? declaration.initializer : declaration;
    if (target === undefined || !(isFunctionDeclaration(target) || isArrowFunction(target))) return undefined;
    const given = new Map<string, Node>();
    for (const [at, { name }] of target.parameters.entries()) {
      const value = node.arguments[at];
      if (value !== undefined && isIdentifier(name)) given.set(name.text, value);
    }
    const names: (readonly RegExp[] | undefined)[] = [];
    const visit = (inner: Node): void => {
      const makes =
        isCallExpression(inner) && isIdentifier(inner.expression) && inner.expression.text === 'sql';
      if (makes) names.push(this.#namesOfCall(inner, given));
      inner.forEachChild(visit);
    };
    visit(target);
    return names.length === 0 || names.includes(undefined) ? undefined : names.flatMap((one) => one ?? []);
  }

  /** A name with values put in matches any text in their places. */
  #patternOf(node: Node, values: ReadonlyMap<string, Node>): readonly RegExp[] | undefined {
    if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) return [exactly([node.text])];
    if (isTemplateExpression(node)) {
      return [exactly([node.head.text, ...node.templateSpans.map((span) => span.literal.text)])];
    }
    const given = isIdentifier(node) ? values.get(node.text) : undefined;
    return given === undefined ? undefined : this.#patternOf(given, new Map());
  }

  #declarationOf(name: Node): Node | undefined {
    const symbol = this.#checker.getSymbolAtLocation(name);
    const target = symbol && this.#unaliased(symbol);
    return target?.valueDeclaration?.resolve(this.#project);
  }

  #unaliased(symbol: TypeSymbol): TypeSymbol {
    return symbol.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }
}

const kindsOfFlags: readonly (readonly [number, string])[] = [
  [TypeFlags.StringLike, 'string'],
  [TypeFlags.NumberLike, 'number'],
  [TypeFlags.BigIntLike, 'bigint'],
  [TypeFlags.BooleanLike, 'boolean'],
  [TypeFlags.Null, 'null'],
  [TypeFlags.Undefined, 'undefined'],
];

function exactly(parts: readonly string[]): RegExp {
  return new RegExp(`^${parts.map((part) => part.replace(/[.*+?^$()[\]{}|\\]/g, '\\$&')).join('.+')}$`);
}
