"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.eventsName = void 0;
exports.dropStrangers = dropStrangers;
exports.methodOf = methodOf;
exports.withoutTests = withoutTests;
// A process that shares a run with others has the whole suite in its blob. Before it says bye, the tests that did not
// run here are taken out, so that a merged report counts each test once.
const fs = require("fs");
const zip_1 = require("./zip");
exports.eventsName = 'report.jsonl';
async function dropStrangers(blob) {
    if (!fs.existsSync(blob))
        return;
    await (0, zip_1.replaceEntry)(blob, exports.eventsName, withoutStrangers);
}
async function* withoutStrangers(zip, entry) {
    const ran = new Set();
    for await (const line of zip.lines(entry)) {
        if (methodOf(line) === 'onTestBegin')
            ran.add(JSON.parse(line).params.testId);
    }
    for await (const line of zip.lines(entry)) {
        if (methodOf(line) === 'onProject')
            yield withoutTests(line, id => ran.has(id));
        else
            yield line;
    }
}
/** Playwright writes the method first; any other order is read properly. */
function methodOf(line) {
    const match = /^\{"method":"(\w+)"/.exec(line);
    return match ? match[1] : String(JSON.parse(line).method);
}
/** An onProject event with these tests alone, and without suites that have none left. */
function withoutTests(line, keep) {
    const event = JSON.parse(line);
    event.params.project.suites = filterSuites(event.params.project.suites, keep);
    return JSON.stringify(event);
}
function filterSuites(entries, keep) {
    return entries.flatMap(entry => {
        if ('testId' in entry)
            return keep(entry.testId) ? [entry] : [];
        const inner = filterSuites(entry.entries, keep);
        return inner.length ? [{ ...entry, entries: inner }] : [];
    });
}
