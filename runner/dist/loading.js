"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.keepLoadErrorsAside = keepLoadErrorsAside;
exports.brokenProjects = brokenProjects;
// A test file that does not load makes `playwright test` refuse the whole run. Here the other files still run: the
// function that loads one file is wrapped, its errors are kept aside, shown, and make the run fail at the end.
// Nothing of the happy path changes. Where a future Playwright has no such function its own refusal stays.
const fs = require("fs");
const path = require("path");
/** To be called before the runner part of Playwright is loaded. */
function keepLoadErrorsAside(playwright, report) {
    const wrap = (load) => async (file, config, errors) => {
        if (!errors)
            return load(file, config, errors);
        const own = [];
        const suite = await load(file, config, own);
        for (const error of own)
            report({ file, error: { ...error, stack: withoutOwnFrames(error.stack) } });
        return suite;
    };
    const common = path.join(playwright.testDir, 'lib', 'common');
    const single = path.join(common, 'testLoader.js');
    if (fs.existsSync(single)) {
        const loader = require(single);
        if (typeof loader.loadTestFile === 'function')
            replaceExports(single, { loadTestFile: wrap(loader.loadTestFile) });
        return;
    }
    const bundle = path.join(common, 'index.js');
    const loader = fs.existsSync(bundle) ? require(bundle).testLoader : undefined;
    if (typeof loader?.loadTestFile === 'function')
        replaceExports(bundle, { testLoader: derive(loader, { loadTestFile: wrap(loader.loadTestFile) }) });
}
/** The projects that have lost a file because it does not load. */
function brokenProjects(playwright, config, loadErrors) {
    if (!loadErrors.length)
        return [];
    const { createFileMatcher } = require(path.join(playwright.testDir, 'lib', 'util.js'));
    return config.projects.filter((project) => loadErrors.some(({ file }) => file.startsWith(project.testDir + path.sep) && createFileMatcher(project.testMatch)(file) && !createFileMatcher(project.testIgnore)(file))).map((project) => project.name);
}
function withoutOwnFrames(stack) {
    return stack?.split('\n').filter(line => !line.includes(__filename)).join('\n');
}
// The exports are getters that cannot be set: whoever requires the module from now on gets an object before them.
function replaceExports(file, changes) {
    const cached = require.cache[require.resolve(file)];
    cached.exports = derive(cached.exports, changes);
}
function derive(from, changes) {
    const properties = Object.getOwnPropertyDescriptors(from);
    for (const [key, value] of Object.entries(changes))
        properties[key] = { value, enumerable: true, configurable: true, writable: true };
    return Object.create(Object.getPrototypeOf(from), properties);
}
