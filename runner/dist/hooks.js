"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.forkHooked = forkHooked;
exports.instructed = instructed;
exports.whenLoaded = whenLoaded;
// Code of ours in Playwright's worker processes: how it is brought there, and how it gets hold of Playwright's client.
// Only Playwright's own processes get it; those that a config, a web server or a test forks do not.
const childProcess = require("child_process");
const Module = require("module");
const path = require("path");
/** Of the environment of a worker process: what its hook is to do. */
const variable = 'TAS_RUNNER_HOOK';
/** A fork that loads a module of this folder before everything else, with instructions that it reads by instructed. */
function forkHooked(playwright, hook, instructions, fork) {
    const text = JSON.stringify({ ...instructions, testDir: playwright.testDir, coreDir: playwright.coreDir });
    return (entry, options, ...rest) => {
        if (typeof entry !== 'string' || !entry.startsWith(playwright.testDir + path.sep) || !options?.env)
            return fork.call(childProcess, entry, options, ...rest);
        return fork.call(childProcess, entry, {
            ...options, execArgv: [...options.execArgv ?? process.execArgv, '--require', require.resolve(hook)],
            env: { ...options.env, [variable]: text },
        }, ...rest);
    };
}
/** The instructions of the hook that this file is, once, and for this process only: none that the tests start. */
function instructed(file) {
    const text = process.env[variable];
    if (!text)
        return undefined;
    delete process.env[variable];
    const at = process.execArgv.indexOf(file);
    if (at > 0)
        process.execArgv.splice(at - 1, 2);
    return JSON.parse(text);
}
/** Calls back with the client's connection when Playwright is loaded, before anything is done with it. */
function whenLoaded({ coreDir }, install) {
    const core = path.join(coreDir, 'index.js');
    const load = Module._load;
    Module._load = function (request, parent, ...rest) {
        const loaded = load.call(this, request, parent, ...rest);
        if (request.endsWith('playwright-core') || request === core) {
            if (loaded?._connection) {
                Module._load = load;
                install(loaded._connection);
            }
        }
        return loaded;
    };
}
