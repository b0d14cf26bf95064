"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.setSession = setSession;
exports.getSession = getSession;
let current;
function setSession(session) {
    current = session;
}
function getSession() {
    if (!current)
        throw new Error('this reporter works only inside a process that TAS started');
    return current;
}
