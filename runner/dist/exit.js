"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.watchExit = watchExit;
// A process can end before the reporter says `bye`: a config that throws, a process.exit in a test file, a crash.
// Then the last words are said in the exit hook, where only synchronous writes work.
const path = require("path");
const text_1 = require("./text");
function watchExit(session, playwright) {
    // Playwright prints what is wrong with a config and exits, before any reporter exists.
    let printed;
    const consoleError = console.error;
    console.error = (...args) => {
        if (!session.reporting)
            printed ??= args[0];
        consoleError.apply(console, args);
    };
    let crash;
    process.on('uncaughtExceptionMonitor', error => crash ??= error);
    let caller;
    const exit = process.exit;
    process.exit = ((code) => {
        caller ??= foreignFrame(new Error().stack ?? '', playwright);
        return exit.call(process, code);
    });
    process.on('exit', code => {
        if (session.ended)
            return;
        session.ended = true;
        const { channel } = session;
        if (!session.reporting && !crash && !caller) {
            const error = printed instanceof Error ? printed : { message: (0, text_1.stripAnsi)(String(printed ?? `Playwright ended with code ${code} before it began`)) };
            channel.sendSync({ type: 'error', ...(0, text_1.wireError)(error) });
            if (!session.listed)
                channel.sendSync({ type: 'listed', total: 0, fatal: true });
            channel.sendSync({ type: 'failed', code: 'bad-config', message: firstLine(error.message) });
        }
        else {
            const why = caller ? `process.exit(${code}) was called ${caller}` : crash ? `Playwright crashed: ${crash.message}` : `Playwright ended with code ${code} before the run was over`;
            channel.sendSync({ type: 'failed', code: 'internal', message: why });
        }
        channel.sendSync({ type: 'bye' });
    });
}
function firstLine(text) {
    return text.split('\n').find(line => line.trim()) ?? '';
}
/** The caller of process.exit where that is the repository's code; undefined when Playwright ends the process. */
function foreignFrame(stack, playwright) {
    const caller = stack.split('\n')[2] ?? '';
    const own = [__dirname, path.dirname(playwright.cli), playwright.testDir, playwright.coreDir, 'node:'];
    return own.some(place => caller.includes(place)) ? undefined : caller.trim();
}
