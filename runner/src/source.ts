// Reads the tests' TypeScript with the parser that their own Playwright brings along, and follows a locator from
// where it is used to where it is written: through constants, fields, getters and methods of page objects, and imports.
import * as fs from 'fs';
import * as path from 'path';
import type { Playwright } from './playwright';

/** A node of Babel's syntax tree. */
export type Node = any;

export class NotFound extends Error {
  constructor(readonly code: 'no-source' | 'no-call' | 'not-literal' | 'ambiguous' | 'no-segment', message: string) {
    super(message);
  }
}

/** One call that narrows a locator: getByRole('button'), with where it is written. */
export interface Segment {
  source: Source;
  method: string;
  call: Node;
}

/** A parsed file. */
export interface Source {
  file: string;
  text: string;
  program: Node;
}

/** Babel's parser, as the Playwright of the tests repository carries it: the program of a file. */
export function parserOf(playwright: Playwright): (text: string, file: string) => Node {
  const { babelParse } = require(path.join(playwright.testDir, 'lib', 'transform', 'babelBundle'));
  return (text, file) => {
    const tree = babelParse(text, file, true);
    return tree.program ?? tree;
  };
}

/** The methods of which a locator is built. */
export const building = new Set(['getByRole', 'getByText', 'getByLabel', 'getByTestId', 'getByPlaceholder', 'getByAltText', 'getByTitle', 'locator', 'frameLocator', 'contentFrame',
  'owner', 'filter', 'first', 'last', 'nth', 'and', 'or']);

const maxFiles = 300;
const maxHops = 12;

export class Sources {
  private readonly parsed = new Map<string, Source>();
  readonly parse: (text: string, file: string) => Node;

  constructor(playwright: Playwright, private readonly root: string) {
    this.parse = parserOf(playwright);
  }

  /** A file of the repository; nothing outside of it is opened, whatever a name leads to. */
  open(file: string): Source {
    const known = this.parsed.get(file);
    if (known)
      return known;
    let real: string;
    try {
      real = fs.realpathSync(file);
    } catch {
      throw new NotFound('no-source', `${this.name(file)} is not there`);
    }
    const inside = path.relative(fs.realpathSync(this.root), real);
    if (inside.startsWith('..') || path.isAbsolute(inside) || inside.split(path.sep).includes('node_modules'))
      throw new NotFound('no-source', `${this.name(file)} is not part of the tests repository`);
    if (this.parsed.size >= maxFiles)
      throw new NotFound('no-source', `more than ${maxFiles} files would have to be read`);
    const text = fs.readFileSync(real, 'utf8');
    let program: Node;
    try {
      program = this.parse(text, real);
    } catch (error) {
      throw new NotFound('no-source', `${this.name(file)} cannot be parsed: ${(error as Error).message}`);
    }
    const source = { file, text, program };
    linkParents(source.program);
    this.parsed.set(file, source);
    return source;
  }

  name(file: string): string {
    return path.relative(this.root, file) || file;
  }

  /** The call at a place of a stack trace: its callee's name begins there. Columns count from 1. */
  callAt(source: Source, line: number, column: number): Node {
    let exact: Node, around: Node;
    visit(source.program, node => {
      if (node.type !== 'CallExpression' && node.type !== 'OptionalCallExpression' || !node.loc)
        return;
      const member = /MemberExpression$/.test(node.callee.type);
      const at = (member ? node.callee.property : node.callee).loc.start;
      if (at.line === line && at.column === column - 1)
        exact = node;
      const { start } = node.loc;
      // Source maps may lead to the beginning of the call instead.
      if (member && start.line === line && start.column === column - 1 && (!around || node.end > around.end))
        around = node;
    });
    const found = exact ?? around;
    if (!found)
      throw new NotFound('no-call', `there is no call at ${this.name(source.file)}:${line}:${column}`);
    return found;
  }

  /** The locator that a call acts on or checks: of locator.click() and of expect(locator).toBeVisible(). */
  locatorOf(source: Source, call: Node): Segment[] {
    let on = bare(call.callee);
    if (!/MemberExpression$/.test(on.type))
      throw new NotFound('no-call', `${snippet(source, call)} is no call on a locator`);
    on = bare(on.object);
    while (/MemberExpression$/.test(on.type) && !on.computed && ['not', 'resolves', 'rejects'].includes(on.property.name))
      on = bare(on.object);
    if (isCall(on) && calledName(on) === 'expect')
      on = bare(on.arguments[0] ?? on);
    // page.click('#save') and the like name their element themselves.
    if (on.type === 'Identifier' && on.name === 'page' && stringOf(call.arguments[0]) !== undefined)
      return [{ source, method: 'locator', call }];
    return this.chain(source, on, 0);
  }

  /** The calls of which a locator is built, outermost first. */
  chain(source: Source, node: Node, hops: number): Segment[] {
    node = bare(node);
    if (hops > maxHops)
      return [];
    if (isCall(node) && /MemberExpression$/.test(node.callee.type) && !node.callee.computed) {
      const method = node.callee.property.name;
      if (building.has(method))
        return [...this.chain(source, node.callee.object, hops), { source, method, call: node }];
      const member = this.member(source, node.callee, hops);
      return member ? this.returned(member.source, member.node, hops) : [];
    }
    if (isCall(node) && node.callee.type === 'Identifier') {
      const called = this.named(source, node.callee, hops);
      return called ? this.returned(called.source, called.node, hops) : [];
    }
    if (node.type === 'Identifier') {
      const meant = this.named(source, node, hops);
      return meant ? this.chain(meant.source, meant.node, hops + 1) : [];
    }
    if (/MemberExpression$/.test(node.type) && !node.computed) {
      const member = this.member(source, node, hops);
      if (!member)
        return [];
      return isFunction(member.node) ? this.returned(member.source, member.node, hops) : this.chain(member.source, member.node, hops + 1);
    }
    return [];
  }

  private returned(source: Source, fn: Node, hops: number): Segment[] {
    if (!isFunction(fn))
      return [];
    if (fn.body.type !== 'BlockStatement')
      return this.chain(source, fn.body, hops + 1);
    const returns: Node[] = [];
    visit(fn.body, node => { if (node.type === 'ReturnStatement' && node.argument) returns.push(node.argument); }, node => isFunction(node));
    return returns.length === 1 ? this.chain(source, returns[0], hops + 1) : [];
  }

  /** What a name stands for: the initial value of a constant, a function, a class. */
  named(source: Source, identifier: Node, hops: number): { source: Source; node: Node } | undefined {
    if (hops > maxHops)
      return;
    for (let scope = identifier.parent; scope; scope = scope.parent) {
      if (isFunction(scope) && scope.params.some((p: Node) => binds(p, identifier.name)))
        return; // a parameter: what it is lies with who calls
      const statements: Node[] = scope.type === 'BlockStatement' || scope.type === 'Program' || scope.type === 'StaticBlock' ? scope.body : [];
      for (let statement of statements) {
        if (/^Export(Named|Default)Declaration$/.test(statement.type) && statement.declaration)
          statement = statement.declaration;
        if (statement.type === 'VariableDeclaration') {
          for (const one of statement.declarations) {
            if (one.id.type === 'Identifier' && one.id.name === identifier.name)
              return statement.kind === 'const' && one.init ? { source, node: one.init } : undefined;
            if (binds(one.id, identifier.name))
              return;
          }
        } else if ((statement.type === 'FunctionDeclaration' || statement.type === 'ClassDeclaration') && statement.id?.name === identifier.name) {
          return { source, node: statement };
        } else if (statement.type === 'ImportDeclaration') {
          const specifier = statement.specifiers.find((s: Node) => s.local.name === identifier.name);
          if (specifier)
            return specifier.type === 'ImportNamespaceSpecifier' ? undefined : this.exported(source, statement.source.value,
              specifier.type === 'ImportDefaultSpecifier' ? 'default' : specifier.imported.name ?? specifier.imported.value, hops + 1);
        }
      }
    }
    return;
  }

  /** What a module of the repository exports under a name. */
  private exported(from: Source, specifier: string, name: string, hops: number): { source: Source; node: Node } | undefined {
    const source = this.module(from, specifier);
    if (!source || hops > maxHops)
      return;
    for (const statement of source.program.body) {
      const declared = statement.declaration;
      if (statement.type === 'ExportDefaultDeclaration' && name === 'default')
        return declared.type === 'Identifier' ? this.named(source, declared, hops + 1) : { source, node: declared };
      if (statement.type !== 'ExportNamedDeclaration')
        continue;
      if (declared?.id?.name === name)
        return { source, node: declared };
      for (const one of declared?.declarations ?? []) {
        if (one.id.name === name && declared.kind === 'const' && one.init)
          return { source, node: one.init };
      }
      for (const s of statement.specifiers ?? []) {
        if ((s.exported.name ?? s.exported.value) === name)
          return statement.source ? this.exported(source, statement.source.value, s.local.name, hops + 1) : this.named(source, s.local, hops + 1);
      }
    }
    return;
  }

  private module(from: Source, specifier: string): Source | undefined {
    if (!specifier.startsWith('.'))
      return;
    const base = path.resolve(path.dirname(from.file), specifier);
    const stem = base.replace(/\.[mc]?js$/, '');
    for (const candidate of [base, ...['.ts', '.tsx', '.mts', '.cts', '.js', '.mjs', '.cjs'].flatMap(ext => [stem + ext, base + ext]), path.join(base, 'index.ts'), path.join(base, 'index.js')]) {
      if (fs.existsSync(candidate) && fs.statSync(candidate).isFile())
        return this.open(candidate);
    }
    return;
  }

  /** What a.b stands for: a field, getter or method of the class that a is made of, or a property of a constant object. */
  private member(source: Source, member: Node, hops: number): { source: Source; node: Node } | undefined {
    const name = member.property.name;
    const object = bare(member.object);
    if (object.type === 'ThisExpression') {
      for (let scope = member.parent; scope; scope = scope.parent) {
        if (/^Class(Declaration|Expression)$/.test(scope.type))
          return this.ofClass(source, scope, name, hops);
      }
      return;
    }
    const meant = object.type === 'Identifier' ? this.named(source, object, hops + 1) : /MemberExpression$/.test(object.type) && !object.computed ? this.member(source, object, hops + 1) : undefined;
    if (!meant)
      return;
    const value = bare(meant.node);
    if (value.type === 'NewExpression' && value.callee.type === 'Identifier') {
      const made = this.named(meant.source, value.callee, hops + 1);
      return made && /^Class/.test(made.node.type) ? this.ofClass(made.source, made.node, name, hops) : undefined;
    }
    if (value.type === 'ObjectExpression') {
      const property = value.properties.find((p: Node) => !p.computed && (p.key?.name ?? p.key?.value) === name);
      return property && { source: meant.source, node: property.type === 'ObjectMethod' ? property : property.value };
    }
    return;
  }

  private ofClass(source: Source, cls: Node, name: string, hops: number): { source: Source; node: Node } | undefined {
    for (const part of cls.body.body) {
      if (part.computed || (part.key?.name ?? part.key?.id?.name) !== name)
        continue;
      if (part.type === 'ClassProperty' || part.type === 'ClassPrivateProperty' || part.type === 'ClassAccessorProperty') {
        if (part.value)
          return { source, node: part.value };
      } else if (part.kind === 'get' || part.kind === 'method') {
        return { source, node: part };
      }
    }
    const constructor = cls.body.body.find((part: Node) => part.kind === 'constructor');
    const assigned: Node[] = [];
    if (constructor) {
      visit(constructor.body, node => {
        if (node.type === 'AssignmentExpression' && node.operator === '=' && node.left.type === 'MemberExpression' && node.left.object.type === 'ThisExpression' && node.left.property.name === name)
          assigned.push(node.right);
      });
    }
    if (assigned.length)
      return assigned.length === 1 ? { source, node: assigned[0] } : undefined;
    if (cls.superClass?.type === 'Identifier' && hops < maxHops) {
      const parent = this.named(source, cls.superClass, hops + 1);
      return parent && /^Class/.test(parent.node.type) ? this.ofClass(parent.source, parent.node, name, hops + 1) : undefined;
    }
    return;
  }

  /** The text that an expression is: a literal, a template without holes, or a constant that is one. */
  literal(source: Source, node: Node, hops = 0): { source: Source; node: Node; value: string | RegExp } | undefined {
    node = bare(node);
    const value = stringOf(node);
    if (value !== undefined)
      return { source, node, value };
    if (node.type === 'RegExpLiteral') {
      try {
        return { source, node, value: new RegExp(node.pattern, node.flags) };
      } catch {
        return;
      }
    }
    if (hops > maxHops)
      return;
    const meant = node.type === 'Identifier' ? this.named(source, node, hops) : /MemberExpression$/.test(node.type) && !node.computed ? this.member(source, node, hops) : undefined;
    return meant && this.literal(meant.source, meant.node, hops + 1);
  }
}

export function stringOf(node: Node): string | undefined {
  if (node?.type === 'StringLiteral')
    return node.value;
  if (node?.type === 'TemplateLiteral' && node.expressions.length === 0)
    return node.quasis[0].value.cooked;
  return;
}

export function isCall(node: Node): boolean {
  return node?.type === 'CallExpression' || node?.type === 'OptionalCallExpression';
}

function calledName(call: Node): string | undefined {
  const callee = bare(call.callee);
  if (callee.type === 'Identifier')
    return callee.name;
  return /MemberExpression$/.test(callee.type) ? callee.object.name : undefined; // expect.soft(…)
}

function isFunction(node: Node): boolean {
  return /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ObjectMethod|ClassMethod|ClassPrivateMethod)$/.test(node?.type ?? '');
}

/** An expression without what changes nothing: brackets, as, !, satisfies, await. */
export function bare(node: Node): Node {
  while (node && /^(ParenthesizedExpression|TSAsExpression|TSNonNullExpression|TSSatisfiesExpression|TSTypeAssertion|AwaitExpression)$/.test(node.type))
    node = node.expression ?? node.argument;
  return node;
}

function binds(pattern: Node, name: string): boolean {
  switch (pattern?.type) {
    case 'Identifier': return pattern.name === name;
    case 'ObjectPattern': return pattern.properties.some((p: Node) => binds(p.type === 'RestElement' ? p.argument : p.value, name));
    case 'ArrayPattern': return pattern.elements.some((e: Node) => binds(e, name));
    case 'AssignmentPattern': return binds(pattern.left, name);
    case 'RestElement': return binds(pattern.argument, name);
    case 'TSParameterProperty': return binds(pattern.parameter, name);
    default: return false;
  }
}

const notChildren = new Set(['loc', 'parent', 'leadingComments', 'trailingComments', 'innerComments', 'extra', 'tokens', 'comments']);

function children(node: Node): Node[] {
  const out: Node[] = [];
  for (const key of Object.keys(node)) {
    if (notChildren.has(key))
      continue;
    for (const child of Array.isArray(node[key]) ? node[key] : [node[key]]) {
      if (child && typeof child.type === 'string')
        out.push(child);
    }
  }
  return out;
}

export function visit(root: Node, each: (node: Node) => void, skip: (node: Node) => boolean = () => false): void {
  const open = [root];
  while (open.length) {
    const node = open.pop();
    each(node);
    if (node === root || !skip(node))
      open.push(...children(node));
  }
}

function linkParents(root: Node): void {
  const open = [root];
  while (open.length) {
    const node = open.pop();
    for (const child of children(node)) {
      child.parent = node;
      open.push(child);
    }
  }
}

function snippet(source: Source, node: Node): string {
  return source.text.slice(node.start, Math.min(node.end, node.start + 80));
}
