"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.lint = lint;
const source_1 = require("./source");
/** Words for what each rule counts, and whether more or less of it is the offence. */
const rules = [
    { rule: 'test-removed', less: true, what: 'a test is gone, or has another title' },
    { rule: 'test-disabled', what: 'a test is skipped, marked as failing, slow or the only one' },
    { rule: 'assertion-removed', less: true, what: 'an assertion is gone, or checks something else' },
    { rule: 'assertion-added', what: 'an assertion was put in place of another, or made soft' },
    { rule: 'action-removed', less: true, what: 'a step is gone, or does something else' },
    { rule: 'positional', what: 'an element is chosen by its place: first(), last(), nth()' },
    { rule: 'force', what: 'a step is forced' },
    { rule: 'sleep', what: 'the test waits for time to pass' },
    { rule: 'timeout', what: 'more time, or more tries, are given' },
    { rule: 'swallowed', what: 'a failure is caught' },
    { rule: 'condition', what: 'a step depends on a condition, or is left out of the run' },
    { rule: 'evaluate', what: 'code is run in the page' },
    { rule: 'intercept', what: 'the application is replaced by answers of the test' },
    { rule: 'escape', what: 'the test reaches beyond its page: a module, a process, a file' },
    { rule: 'not-awaited', less: true, what: 'a step is not waited for any more' },
    { rule: 'address', what: 'the test goes to an address of its own, or hands over a file' },
];
const actions = new Set(['click', 'dblclick', 'fill', 'type', 'press', 'pressSequentially', 'check', 'uncheck', 'setChecked', 'selectOption', 'selectText', 'setInputFiles', 'hover', 'tap', 'dragTo', 'dragAndDrop',
    'focus', 'blur', 'clear', 'goto', 'reload', 'goBack', 'goForward', 'dispatchEvent', 'scrollIntoViewIfNeeded', 'waitForURL', 'waitForResponse', 'waitForRequest', 'waitForEvent', 'waitFor', 'screenshot']);
const forcing = new Set(['force', 'noWaitAfter', 'trial']);
const inPage = new Set(['evaluate', 'evaluateHandle', 'evaluateAll', '$eval', '$$eval', 'addInitScript', 'addScriptTag', 'setContent', 'exposeFunction', 'exposeBinding']);
const intercepting = new Set(['route', 'routeFromHAR', 'routeWebSocket', 'fulfill', 'abort', 'unroute', 'unrouteAll']);
const disabling = new Set(['skip', 'fixme', 'fail', 'only', 'slow']);
const escaping = new Set(['require', 'eval', 'Function', 'process', 'globalThis', 'global', 'fetch', 'child_process', 'constructor', '__proto__', 'prototype', 'Reflect', 'Proxy', 'WebSocket', 'XMLHttpRequest',
    'request', 'context', 'browser', 'playwright']);
const leading = new Set(['goto', 'newPage', 'newContext', 'launch', 'launchPersistentContext', 'connect', 'connectOverCDP', 'setInputFiles', 'addCookies', 'setExtraHTTPHeaders', 'setHTTPCredentials', 'storageState']);
/** Names of what a rule counts as a call: taken as a value, or out of an object, they could be called under another name. */
const taken = new Set([...disabling, ...inPage, ...intercepting, ...leading, 'waitForTimeout', 'setTimeout', 'setInterval', 'setImmediate', 'sleep', 'first', 'last', 'nth', 'catch', 'finally', 'allSettled', 'race', 'configure',
    'setDefaultTimeout', 'setDefaultNavigationTimeout']);
/** Matchers that look for their element again and again; what others are given was read before. */
const looking = /^(?:toBe(?:Attached|Checked|Disabled|Editable|Empty|Enabled|Focused|Hidden|InViewport|Visible)|toContain(?:Text|Class)|toHave(?:Accessible\w+|Attribute|Class|Count|CSS|Id|JSProperty|Role|Screenshot|Text|Title|URL|Values?)|toMatchAriaSnapshot)$/;
/** Calls that read what is checked later. */
const reading = new Set(['textContent', 'innerText', 'innerHTML', 'inputValue', 'title', 'url', 'count', 'isVisible', 'isHidden', 'isEnabled', 'isDisabled', 'isChecked', 'isEditable', 'getAttribute', 'allTextContents', 'allInnerTexts',
    'ariaSnapshot', 'json', 'text', 'status', 'ok']);
/**
 * The offences of a change from one text of a file to another; none where there are none. With `free` the change was
 * written freely, and not only a part of a locator: then what must not be there is not to be looked for elsewhere.
 */
function lint(playwright, before, after, free = false) {
    const parse = (0, source_1.parserOf)(playwright);
    let old, now;
    try {
        old = count(before, parse(before, 'before.ts'), free);
    }
    catch {
        old = new Map(); // it could not run either: then all that is there counts as new
    }
    try {
        now = count(after, parse(after, 'after.ts'), free);
    }
    catch (error) {
        return [{ rule: 'not-parsed', message: `the file cannot be parsed any more: ${error.message}` }];
    }
    const out = [];
    for (const { rule, less, what } of rules) {
        const [has, had] = less ? [old, now] : [now, old];
        for (const [key, n] of has) {
            if (key.startsWith(rule + ' ') && n > (had.get(key) ?? 0))
                out.push({ rule, message: `${what}: ${key.slice(rule.length + 1, rule.length + 121)}` });
        }
    }
    return out;
}
function count(text, program, free) {
    const called = new WeakSet(); // names that were counted with their call
    const counts = new Map();
    const add = (rule, key) => counts.set(`${rule} ${key}`, (counts.get(`${rule} ${key}`) ?? 0) + 1);
    const code = (node) => text.slice(node.start, node.end).replace(/\s+/g, ' ');
    (0, source_1.visit)(program, node => look(node, add, code, called, free));
    return counts;
}
function look(node, add, code, called, free) {
    switch (node.type) {
        case 'TryStatement':
            return add('swallowed', 'try');
        case 'IfStatement':
        case 'ConditionalExpression':
        case 'SwitchStatement':
            return add('condition', code(node.test ?? node.discriminant));
        case 'LogicalExpression':
            return add('condition', code(node));
        case 'ForStatement':
        case 'ForInStatement':
        case 'ForOfStatement':
        case 'WhileStatement':
        case 'DoWhileStatement':
            return add('condition', code(node.test ?? node.right ?? node).slice(0, 200));
        case 'AssignmentExpression':
            if (/^(?:&&|\|\||\?\?)=$/.test(node.operator))
                add('condition', code(node));
            return;
        case 'AwaitExpression': {
            const awaited = (0, source_1.bare)(node.argument);
            if ((0, source_1.isCall)(awaited))
                add('not-awaited', nameOf((0, source_1.bare)(awaited.callee)) ?? code(awaited).slice(0, 200));
            return;
        }
        case 'StringLiteral':
        case 'TemplateElement': {
            const words = String(node.value?.raw ?? node.value);
            if (words.includes('://') || /^\s*(?:https?|wss?|file|data|javascript|blob|ftp):/i.test(words))
                add('address', words.slice(0, 200));
            return;
        }
        case 'ExportAllDeclaration':
        case 'ExportNamedDeclaration':
            if (node.source)
                add('escape', node.source.value);
            return;
        case 'Import':
        case 'ImportExpression':
            return add('escape', 'import');
        case 'MemberExpression':
        case 'OptionalMemberExpression':
            if (node.computed && !/^(?:Numeric|String)Literal$/.test(node.property.type))
                add('escape', `a name that is put together: ${code(node)}`);
            else if (node.computed && taken.has(node.property.value))
                add('escape', `${node.property.value}, by another name`);
            return;
        case 'ReturnStatement':
            return add('condition', `return ${valueOf(node.argument, code)}`); // a page object may answer another locator
        case 'ThrowStatement':
        case 'BreakStatement':
        case 'ContinueStatement':
            return add('condition', code(node));
        case 'ImportDeclaration':
            return add('escape', node.source.value);
        case 'Identifier':
            if (escaping.has(node.name))
                add('escape', node.name);
            else if (taken.has(node.name) && !called.has(node))
                add('escape', `${node.name}, by another name`);
            return;
        case 'ObjectProperty': {
            const name = node.key?.name ?? node.key?.value;
            if (forcing.has(name) && !(node.value.type === 'BooleanLiteral' && !node.value.value))
                add('force', code(node));
            else if (name === 'timeout' || name === 'retries' || name === 'maxDiffPixels' || name === 'maxDiffPixelRatio' || name === 'threshold' || name === 'intervals')
                add('timeout', code(node));
            return;
        }
    }
    if (!(0, source_1.isCall)(node))
        return;
    const callee = (0, source_1.bare)(node.callee);
    const member = /MemberExpression$/.test(callee.type);
    const name = nameOf(callee);
    if (name === undefined)
        return;
    called.add(member ? callee.property : callee);
    if (/^Optional/.test(node.type) || /^Optional/.test(callee.type))
        add('condition', code(node).slice(0, 200));
    const title = (0, source_1.stringOf)(node.arguments[0]);
    if (!member && /^(test|it)$/.test(name) && node.arguments.length > 1)
        return add('test-removed', title ?? code(node.arguments[0]));
    if (name === 'setTimeout' || name === 'waitForTimeout' || name === 'sleep' || name === 'setImmediate' || name === 'setInterval') {
        add(member && callee.object.name === 'test' ? 'timeout' : 'sleep', code(node).slice(0, 200));
        return;
    }
    if (!member)
        return;
    const on = (0, source_1.bare)(callee.object);
    const root = rootOf(on);
    if (disabling.has(name))
        return add('test-disabled', `${root}.${name}`);
    if (name === 'configure' || name === 'setDefaultTimeout' || name === 'setDefaultNavigationTimeout')
        return add('timeout', code(node));
    if (name === 'catch' || name === 'finally' || name === 'allSettled' || name === 'race')
        return add('swallowed', name);
    if (name === 'first' || name === 'last' || name === 'nth')
        return add('positional', name);
    if (inPage.has(name))
        return add('evaluate', name);
    if (intercepting.has(name))
        return add('intercept', name);
    if (leading.has(name))
        add('address', `${name}(${node.arguments.map(code).join(', ').slice(0, 100)})`);
    if (reading.has(name))
        add('assertion-removed', `what ${name}() reads`);
    const checked = expectOf(on);
    if (checked) {
        // Which element is checked may change; what is expected of it may not, nor what a value is read from.
        const not = /(?:^|[.:])not\./.test(checked.words) !== /^toBeHidden$/.test(name) || name === 'toHaveCount' && node.arguments.map(code)[0] === '0';
        const of = !looking.test(name) && name !== 'toPass' ? ` of ${valueOf(checked.subject, code)}` : free && not ? ` of ${checked.subject ? code(checked.subject) : ''}` : '';
        const key = `${checked.words}${name}(${node.arguments.map(code).join(', ')})${of}`;
        add('assertion-removed', key);
        return add('assertion-added', key);
    }
    if (actions.has(name)) {
        const own = on.type === 'Identifier' && on.name === 'page' && node.arguments.length > 0 && !['goto', 'waitForURL', 'waitForResponse', 'waitForRequest', 'waitForEvent', 'reload'].includes(name);
        add('action-removed', `${name}(${node.arguments.slice(own ? 1 : 0).map(code).join(', ')})`);
    }
}
/** expect(…), expect.soft(…) and what stands behind them: .not, .resolves. */
function expectOf(node) {
    let words = '';
    while (/MemberExpression$/.test(node.type)) {
        words = `${node.property.name}.${words}`;
        node = (0, source_1.bare)(node.object);
    }
    if (!(0, source_1.isCall)(node))
        return;
    const callee = (0, source_1.bare)(node.callee);
    if (callee.type === 'Identifier' && callee.name === 'expect')
        return { words, subject: node.arguments[0] };
    if (/MemberExpression$/.test(callee.type) && callee.object.name === 'expect')
        return { words: `${callee.property.name}:${words}`, subject: node.arguments[0] };
    return;
}
/** What a call, or a part of an object, is called. */
function nameOf(callee) {
    return /MemberExpression$/.test(callee.type) ? callee.property.name ?? callee.property.value : callee.name;
}
/** Code for a value that is checked, without the locators in it: those may change. */
function valueOf(node, code) {
    if (!node)
        return '';
    node = (0, source_1.bare)(node);
    if (node.type === 'AwaitExpression')
        return `await ${valueOf(node.argument, code)}`;
    const callee = (0, source_1.isCall)(node) ? (0, source_1.bare)(node.callee) : node;
    if (!/MemberExpression$/.test(callee.type))
        return code(node);
    const on = valueOf(callee.object, code);
    if (!(0, source_1.isCall)(node))
        return `${on}.${nameOf(callee)}`;
    return source_1.building.has(nameOf(callee) ?? '') ? on : `${on}.${nameOf(callee)}(${node.arguments.map(code).join(', ')})`;
}
function rootOf(node) {
    while (node && (/MemberExpression$/.test(node.type) || (0, source_1.isCall)(node)))
        node = (0, source_1.bare)(node.object ?? node.callee);
    return node?.name;
}
