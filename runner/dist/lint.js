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
];
const actions = new Set(['click', 'dblclick', 'fill', 'type', 'press', 'pressSequentially', 'check', 'uncheck', 'setChecked', 'selectOption', 'selectText', 'setInputFiles', 'hover', 'tap', 'dragTo', 'dragAndDrop',
    'focus', 'blur', 'clear', 'goto', 'reload', 'goBack', 'goForward', 'dispatchEvent', 'scrollIntoViewIfNeeded', 'waitForURL', 'waitForResponse', 'waitForRequest', 'waitForEvent', 'waitFor', 'screenshot']);
const forcing = new Set(['force', 'noWaitAfter', 'trial']);
const inPage = new Set(['evaluate', 'evaluateHandle', 'evaluateAll', '$eval', '$$eval', 'addInitScript', 'addScriptTag', 'setContent', 'exposeFunction', 'exposeBinding']);
const intercepting = new Set(['route', 'routeFromHAR', 'routeWebSocket', 'fulfill', 'abort', 'unroute', 'unrouteAll']);
const disabling = new Set(['skip', 'fixme', 'fail', 'only', 'slow']);
const escaping = new Set(['require', 'eval', 'Function', 'process', 'globalThis', 'fetch', 'child_process']);
/** The offences of a change from one text of a file to another; none where there are none. */
function lint(playwright, before, after) {
    const parse = (0, source_1.parserOf)(playwright);
    let old, now;
    try {
        old = count(before, parse(before, 'before.ts'));
    }
    catch {
        old = new Map(); // it could not run either: then all that is there counts as new
    }
    try {
        now = count(after, parse(after, 'after.ts'));
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
function count(text, program) {
    const counts = new Map();
    const add = (rule, key) => counts.set(`${rule} ${key}`, (counts.get(`${rule} ${key}`) ?? 0) + 1);
    const code = (node) => text.slice(node.start, node.end).replace(/\s+/g, ' ');
    (0, source_1.visit)(program, node => look(node, add, code));
    return counts;
}
function look(node, add, code) {
    switch (node.type) {
        case 'TryStatement':
            return add('swallowed', 'try');
        case 'IfStatement':
        case 'ConditionalExpression':
        case 'SwitchStatement':
            return add('condition', code(node.test ?? node.discriminant));
        case 'LogicalExpression':
            return add('condition', code(node));
        case 'ReturnStatement':
        case 'ThrowStatement':
        case 'BreakStatement':
        case 'ContinueStatement':
            return add('condition', code(node));
        case 'ImportDeclaration':
            return add('escape', node.source.value);
        case 'Identifier':
            if (escaping.has(node.name))
                add('escape', node.name);
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
    const name = member ? callee.property.name ?? callee.property.value : callee.name;
    if (name === undefined)
        return;
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
    if (disabling.has(name) && (root === 'test' || root === 'it' || root === 'describe'))
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
    const checked = expectOf(on);
    if (checked) {
        // Which element is checked may change; what is expected of it may not.
        const key = `${checked.words}${name}(${node.arguments.map(code).join(', ')})`;
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
        return { words };
    if (/MemberExpression$/.test(callee.type) && callee.object.name === 'expect')
        return { words: `${callee.property.name}:${words}` };
    return;
}
function rootOf(node) {
    while (node && (/MemberExpression$/.test(node.type) || (0, source_1.isCall)(node)))
        node = (0, source_1.bare)(node.object ?? node.callee);
    return node?.name;
}
