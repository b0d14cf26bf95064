"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Spare = void 0;
exports.forkSpare = forkSpare;
const fs = require("fs");
const os = require("os");
const path = require("path");
class Spare {
    entry;
    child;
    cwd = process.cwd();
    env = {};
    constructor(entry, fork) {
        this.entry = entry;
        // What Playwright adds for a worker.
        this.env = { ...process.env, PLAYWRIGHT_TEST: '1', FORCE_COLOR: '1', DEBUG_COLORS: process.env.DEBUG_COLORS ?? '1' };
        this.child = fork(entry, { detached: false, env: this.env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
        this.child.once('exit', () => this.child = undefined);
        this.child.once('error', () => this.child = undefined);
    }
    /** The process that fork would make, or undefined. Messages that it sent meanwhile wait for the first listener. */
    take(entry, options) {
        if (entry !== this.entry || !this.child)
            return undefined;
        if (!this.child.connected || options?.execArgv || String(options?.stdio) !== 'ignore,pipe,pipe,ipc' || process.cwd() !== this.cwd || !sameEnv(this.env, options.env)) {
            this.drop();
            return undefined;
        }
        const child = this.child;
        this.child = undefined;
        return child;
    }
    drop() {
        this.child?.kill('SIGKILL');
        this.child = undefined;
    }
}
exports.Spare = Spare;
/** None where a second process would only be in the way, or where Playwright's workers begin in another file. */
function forkSpare(playwright, fork) {
    const entry = path.join(playwright.testDir, 'lib', 'worker', 'workerProcessEntry.js');
    return os.availableParallelism() > 1 && fs.existsSync(entry) ? new Spare(entry, fork) : undefined;
}
function sameEnv(one, other) {
    const names = new Set([...Object.keys(one), ...Object.keys(other ?? {})]);
    // Set by the compiler inside Playwright, when it had to compile something; mutes a warning.
    names.delete('BROWSERSLIST_IGNORE_OLD_DATA');
    return [...names].every(name => one[name] === other[name]);
}
