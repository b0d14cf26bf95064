"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.stripAnsi = stripAnsi;
exports.stepTitle = stepTitle;
exports.relativeFile = relativeFile;
exports.wireLocation = wireLocation;
exports.wireError = wireError;
exports.snippetAt = snippetAt;
// Small text helpers shared by everything that reports.
const fs = require("fs");
const path = require("path");
// CSI and OSC sequences: colours, cursor moves, links.
const ansi = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-Z\\-_]/g;
function stripAnsi(text) {
    return text.includes('\u001b') ? text.replace(ansi, '') : text;
}
// A diff of two pages can be megabytes; nobody reads the rest of it, and a reader of lines has to hold it.
const longestErrorText = 64 * 1024;
function shorten(text, longest) {
    return text.length > longest ? text.slice(0, longest) + '\n… (cut)' : text;
}
function stepTitle(title) {
    return shorten(stripAnsi(title), 2000);
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
    const text = (value) => (typeof value === 'string' ? shorten(stripAnsi(value), longestErrorText) : undefined);
    return {
        message: text(error?.message),
        stack: text(error?.stack),
        snippet: text(error?.snippet),
        location: wireLocation(error?.location),
        value: text(error?.value),
    };
}
/** A few lines of source around a place, as Playwright shows them with its errors. "" when there are none. */
function snippetAt(location) {
    let lines;
    try {
        lines = fs.readFileSync(location.file, 'utf8').split(/\r?\n/);
    }
    catch {
        return '';
    }
    const first = Math.max(1, location.line - 2);
    const last = Math.min(lines.length, location.line + 2);
    const width = String(last).length;
    const shown = [];
    for (let number = first; number <= last; number++) {
        const here = number === location.line;
        shown.push(`${here ? '>' : ' '} ${String(number).padStart(width)} | ${lines[number - 1].slice(0, 500)}`);
        if (here && location.column > 0)
            shown.push(`  ${' '.repeat(width)} | ${' '.repeat(location.column - 1)}^`);
    }
    return shown.join('\n');
}
