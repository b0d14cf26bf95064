"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.NotLive = void 0;
exports.findInnards = findInnards;
exports.notLive = notLive;
// The two parts of Playwright's runner that live dispatch needs and that it does not hand out: the class that hands
// groups of tests to worker processes, and the function that makes the groups. Before 1.6x they are modules of their
// own; now they are inside of one bundle, which is compiled with a line more that exports them.
const fs = require("fs");
const Module = require("module");
const path = require("path");
class NotLive extends Error {
}
exports.NotLive = NotLive;
/** To be called before the runner part of Playwright is loaded, and after all other changes to what it loads. */
function findInnards(playwright) {
    let found;
    try {
        found = load(path.join(playwright.testDir, 'lib', 'runner'));
    }
    catch (error) {
        throw notLive(playwright, error.message);
    }
    const { Dispatcher, createTestGroups } = found;
    if (typeof Dispatcher !== 'function' || typeof createTestGroups !== 'function')
        throw notLive(playwright, `it has no ${typeof Dispatcher === 'function' ? 'createTestGroups' : 'Dispatcher'}`);
    return { Dispatcher: Dispatcher, createTestGroups };
}
function notLive(playwright, why) {
    return new NotLive(`tas-runner cannot split a run with Playwright ${playwright?.version}: ${why}. Run it without shards, or with a newer tas-runner`);
}
function load(folder) {
    const single = path.join(folder, 'dispatcher.js');
    if (fs.existsSync(single))
        return { Dispatcher: require(single).Dispatcher, createTestGroups: require(path.join(folder, 'testGroups.js')).createTestGroups };
    const bundle = require.resolve(path.join(folder, 'index.js'));
    if (require.cache[bundle])
        throw new Error('it is loaded already');
    const name = 'tasRunnerInnards';
    const part = (what) => `${what}: typeof ${what} === 'function' ? ${what} : undefined`;
    const prototype = Module.prototype;
    const compile = prototype._compile;
    prototype._compile = function (content, filename, ...rest) {
        if (filename !== bundle)
            return compile.call(this, content, filename, ...rest);
        prototype._compile = compile;
        return compile.call(this, `${content}\n;module.exports.${name} = { ${part('Dispatcher')}, ${part('createTestGroups')} };\n`, filename, ...rest);
    };
    try {
        return require(bundle)[name] ?? {};
    }
    finally {
        prototype._compile = compile;
    }
}
