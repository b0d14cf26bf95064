"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Sources = exports.building = exports.NotFound = void 0;
exports.parserOf = parserOf;
exports.stringOf = stringOf;
exports.isCall = isCall;
exports.bare = bare;
exports.visit = visit;
// Reads the tests' TypeScript with the parser that their own Playwright brings along, and follows a locator from
// where it is used to where it is written: through constants, fields, getters and methods of page objects, and imports.
const fs = require("fs");
const path = require("path");
class NotFound extends Error {
    code;
    constructor(code, message) {
        super(message);
        this.code = code;
    }
}
exports.NotFound = NotFound;
/** Babel's parser, as the Playwright of the tests repository carries it: the program of a file. */
function parserOf(playwright) {
    const { babelParse } = require(path.join(playwright.testDir, 'lib', 'transform', 'babelBundle'));
    return (text, file) => {
        const tree = babelParse(text, file, true);
        return tree.program ?? tree;
    };
}
/** The methods of which a locator is built. */
exports.building = new Set(['getByRole', 'getByText', 'getByLabel', 'getByTestId', 'getByPlaceholder', 'getByAltText', 'getByTitle', 'locator', 'frameLocator', 'contentFrame',
    'owner', 'filter', 'first', 'last', 'nth', 'and', 'or']);
const maxFiles = 300;
const maxHops = 12;
class Sources {
    root;
    parsed = new Map();
    parse;
    constructor(playwright, root) {
        this.root = root;
        this.parse = parserOf(playwright);
    }
    /** A file of the repository; nothing outside of it is opened, whatever a name leads to. */
    open(file) {
        const known = this.parsed.get(file);
        if (known)
            return known;
        let real;
        try {
            real = fs.realpathSync(file);
        }
        catch {
            throw new NotFound('no-source', `${this.name(file)} is not there`);
        }
        const inside = path.relative(fs.realpathSync(this.root), real);
        if (inside.startsWith('..') || path.isAbsolute(inside) || inside.split(path.sep).includes('node_modules'))
            throw new NotFound('no-source', `${this.name(file)} is not part of the tests repository`);
        if (this.parsed.size >= maxFiles)
            throw new NotFound('no-source', `more than ${maxFiles} files would have to be read`);
        const text = fs.readFileSync(real, 'utf8');
        let program;
        try {
            program = this.parse(text, real);
        }
        catch (error) {
            throw new NotFound('no-source', `${this.name(file)} cannot be parsed: ${error.message}`);
        }
        const source = { file, text, program };
        linkParents(source.program);
        this.parsed.set(file, source);
        return source;
    }
    name(file) {
        return path.relative(this.root, file) || file;
    }
    /** The call at a place of a stack trace: its callee's name begins there. Columns count from 1. */
    callAt(source, line, column) {
        let exact, around;
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
    locatorOf(source, call) {
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
    chain(source, node, hops) {
        node = bare(node);
        if (hops > maxHops)
            return [];
        if (isCall(node) && /MemberExpression$/.test(node.callee.type) && !node.callee.computed) {
            const method = node.callee.property.name;
            if (exports.building.has(method))
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
    returned(source, fn, hops) {
        if (!isFunction(fn))
            return [];
        if (fn.body.type !== 'BlockStatement')
            return this.chain(source, fn.body, hops + 1);
        const returns = [];
        visit(fn.body, node => { if (node.type === 'ReturnStatement' && node.argument)
            returns.push(node.argument); }, node => isFunction(node));
        return returns.length === 1 ? this.chain(source, returns[0], hops + 1) : [];
    }
    /** What a name stands for: the initial value of a constant, a function, a class. */
    named(source, identifier, hops) {
        if (hops > maxHops)
            return;
        for (let scope = identifier.parent; scope; scope = scope.parent) {
            if (isFunction(scope) && scope.params.some((p) => binds(p, identifier.name)))
                return; // a parameter: what it is lies with who calls
            const statements = scope.type === 'BlockStatement' || scope.type === 'Program' || scope.type === 'StaticBlock' ? scope.body : [];
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
                }
                else if ((statement.type === 'FunctionDeclaration' || statement.type === 'ClassDeclaration') && statement.id?.name === identifier.name) {
                    return { source, node: statement };
                }
                else if (statement.type === 'ImportDeclaration') {
                    const specifier = statement.specifiers.find((s) => s.local.name === identifier.name);
                    if (specifier)
                        return specifier.type === 'ImportNamespaceSpecifier' ? undefined : this.exported(source, statement.source.value, specifier.type === 'ImportDefaultSpecifier' ? 'default' : specifier.imported.name ?? specifier.imported.value, hops + 1);
                }
            }
        }
        return;
    }
    /** What a module of the repository exports under a name. */
    exported(from, specifier, name, hops) {
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
    module(from, specifier) {
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
    member(source, member, hops) {
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
            const property = value.properties.find((p) => !p.computed && (p.key?.name ?? p.key?.value) === name);
            return property && { source: meant.source, node: property.type === 'ObjectMethod' ? property : property.value };
        }
        return;
    }
    ofClass(source, cls, name, hops) {
        for (const part of cls.body.body) {
            if (part.computed || (part.key?.name ?? part.key?.id?.name) !== name)
                continue;
            if (part.type === 'ClassProperty' || part.type === 'ClassPrivateProperty' || part.type === 'ClassAccessorProperty') {
                if (part.value)
                    return { source, node: part.value };
            }
            else if (part.kind === 'get' || part.kind === 'method') {
                return { source, node: part };
            }
        }
        const constructor = cls.body.body.find((part) => part.kind === 'constructor');
        const assigned = [];
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
    literal(source, node, hops = 0) {
        node = bare(node);
        const value = stringOf(node);
        if (value !== undefined)
            return { source, node, value };
        if (node.type === 'RegExpLiteral') {
            try {
                return { source, node, value: new RegExp(node.pattern, node.flags) };
            }
            catch {
                return;
            }
        }
        if (hops > maxHops)
            return;
        const meant = node.type === 'Identifier' ? this.named(source, node, hops) : /MemberExpression$/.test(node.type) && !node.computed ? this.member(source, node, hops) : undefined;
        return meant && this.literal(meant.source, meant.node, hops + 1);
    }
}
exports.Sources = Sources;
function stringOf(node) {
    if (node?.type === 'StringLiteral')
        return node.value;
    if (node?.type === 'TemplateLiteral' && node.expressions.length === 0)
        return node.quasis[0].value.cooked;
    return;
}
function isCall(node) {
    return node?.type === 'CallExpression' || node?.type === 'OptionalCallExpression';
}
function calledName(call) {
    const callee = bare(call.callee);
    if (callee.type === 'Identifier')
        return callee.name;
    return /MemberExpression$/.test(callee.type) ? callee.object.name : undefined; // expect.soft(…)
}
function isFunction(node) {
    return /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ObjectMethod|ClassMethod|ClassPrivateMethod)$/.test(node?.type ?? '');
}
/** An expression without what changes nothing: brackets, as, !, satisfies, await. */
function bare(node) {
    while (node && /^(ParenthesizedExpression|TSAsExpression|TSNonNullExpression|TSSatisfiesExpression|TSTypeAssertion|AwaitExpression)$/.test(node.type))
        node = node.expression ?? node.argument;
    return node;
}
function binds(pattern, name) {
    switch (pattern?.type) {
        case 'Identifier': return pattern.name === name;
        case 'ObjectPattern': return pattern.properties.some((p) => binds(p.type === 'RestElement' ? p.argument : p.value, name));
        case 'ArrayPattern': return pattern.elements.some((e) => binds(e, name));
        case 'AssignmentPattern': return binds(pattern.left, name);
        case 'RestElement': return binds(pattern.argument, name);
        case 'TSParameterProperty': return binds(pattern.parameter, name);
        default: return false;
    }
}
const notChildren = new Set(['loc', 'parent', 'leadingComments', 'trailingComments', 'innerComments', 'extra', 'tokens', 'comments']);
function children(node) {
    const out = [];
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
function visit(root, each, skip = () => false) {
    const open = [root];
    while (open.length) {
        const node = open.pop();
        each(node);
        if (node === root || !skip(node))
            open.push(...children(node));
    }
}
function linkParents(root) {
    const open = [root];
    while (open.length) {
        const node = open.pop();
        for (const child of children(node)) {
            child.parent = node;
            open.push(child);
        }
    }
}
function snippet(source, node) {
    return source.text.slice(node.start, Math.min(node.end, node.start + 80));
}
