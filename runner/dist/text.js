"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.stripAnsi = stripAnsi;
exports.relativeFile = relativeFile;
exports.wireLocation = wireLocation;
exports.wireError = wireError;
// Small text helpers shared by everything that reports.
const path = require("path");
// CSI and OSC sequences: colours, cursor moves, links.
const ansi = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-Z\\-_]/g;
function stripAnsi(text) {
    return text.includes('\u001b') ? text.replace(ansi, '') : text;
}
/** Relative to the working directory with `/` where the file lies below it, else as it is. */
function relativeFile(file) {
    const relative = path.relative(process.cwd(), file);
    if (!relative || relative.startsWith('..') || path.isAbsolute(relative))
        return file;
    return path.sep === '/' ? relative : relative.split(path.sep).join('/');
}
function wireLocation(location) {
    return location && { file: relativeFile(location.file), line: location.line, column: location.column };
}
function wireError(error) {
    const text = (value) => (typeof value === 'string' ? stripAnsi(value) : undefined);
    return {
        message: text(error?.message),
        stack: text(error?.stack),
        snippet: text(error?.snippet),
        location: wireLocation(error?.location),
        value: text(error?.value),
    };
}
