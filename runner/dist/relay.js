"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.startRunner = startRunner;
// Another runner in a process of its own, that speaks the same protocol with this one as its attempt: to list with a
// Playwright that cannot be asked in the middle of a run, and to run what one process cannot.
const child_process_1 = require("child_process");
const channel_1 = require("./channel");
function startRunner(start, onMessage) {
    const child = (0, child_process_1.spawn)(process.execPath, [...process.execArgv, require.resolve('./main.js')], {
        stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    });
    const socket = child.stdio[3];
    const channel = new channel_1.Channel(socket);
    channel.onMessage(onMessage);
    channel.send({ ...start });
    return {
        send: message => channel.send(message),
        exited: new Promise(resolve => {
            child.once('close', () => resolve());
            child.once('error', () => resolve());
        }),
    };
}
