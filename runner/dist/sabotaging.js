"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.doneMessage = exports.variable = void 0;
exports.forkSaboteurs = forkSaboteurs;
// What the runner and its hook in Playwright's worker processes (src/sabotage.ts) say to each other.
const childProcess = require("child_process");
const path = require("path");
/** Of the environment of a worker process: its Instructions. */
exports.variable = 'TAS_RUNNER_SABOTAGE';
/** The method of the message by which a process says that it has done its sabotage to a try. */
exports.doneMessage = '__tas_sabotaged__';
/** Playwright's own processes get a hook that does harm; those that a config or a web server forks do not. */
function forkSaboteurs(playwright, sabotage, fork) {
    const instructions = { sabotage, testDir: playwright.testDir, coreDir: playwright.coreDir };
    return (entry, options, ...rest) => {
        if (typeof entry !== 'string' || !entry.startsWith(playwright.testDir + path.sep) || !options?.env)
            return fork.call(childProcess, entry, options, ...rest);
        return fork.call(childProcess, entry, {
            ...options, execArgv: [...options.execArgv ?? process.execArgv, '--require', require.resolve('./sabotage.js')],
            env: { ...options.env, [exports.variable]: JSON.stringify(instructions) },
        }, ...rest);
    };
}
