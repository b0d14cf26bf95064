"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.lostTests = lostTests;
exports.layersOf = layersOf;
exports.lostEvents = lostEvents;
// Tests that a process finished before it was lost with its blob. What the service was told of them becomes events as
// Playwright's blob reporter writes them (version 2, that of every Playwright since 1.50).
const fs = require("fs");
const path = require("path");
const zip_1 = require("./zip");
/** The tests that can be read; what is wrong with the others is told. */
async function lostTests(file, onProblem) {
    const tests = [];
    let number = 0;
    try {
        for await (const line of (0, zip_1.linesOf)(fs.createReadStream(file))) {
            number++;
            if (!line.trim())
                continue;
            try {
                tests.push(lostTest(line));
            }
            catch (error) {
                onProblem(`line ${number} of the results of lost processes is left out: ${error.message}`);
            }
        }
    }
    catch (error) {
        onProblem(`the results of lost processes cannot be read after line ${number}: ${error.message}`);
    }
    return tests;
}
/** Several processes may have run a test, as one of a set-up project; a report has each once. */
function layersOf(tests) {
    const layers = [];
    const times = new Map();
    for (const test of tests) {
        const layer = times.get(test.id) ?? 0;
        times.set(test.id, layer + 1);
        (layers[layer] ??= []).push(test);
    }
    return layers;
}
const statuses = ['passed', 'failed', 'timedOut', 'skipped', 'interrupted'];
function lostTest(line) {
    const test = JSON.parse(line);
    for (const [name, right] of Object.entries(rules)) {
        if (!right(test[name]))
            throw new Error(`its ${name} is missing or not of the known form`);
    }
    for (const one of test.tries) {
        if (!statuses.includes(one.status))
            one.status = 'interrupted'; // it was running
    }
    return test;
}
const text = value => typeof value === 'string';
const whole = value => Number.isInteger(value) && value >= 0;
const optional = (rule) => value => value === undefined || value === null || rule(value);
const list = (rule) => value => Array.isArray(value) && value.every(rule);
const object = (rules) => value => typeof value === 'object' && value !== null && Object.entries(rules).every(([key, rule]) => rule(value[key]));
const error = object({
    message: optional(text), stack: optional(text), snippet: optional(text), value: optional(text),
    location: optional(object({ file: text, line: whole, column: whole })),
});
const rules = {
    id: text, project: text, file: text, line: whole, column: whole, title: text,
    titlePath: value => list(text)(value) && value.length > 0 && value.length < 100,
    tags: optional(list(text)), retries: optional(whole), repeatEachIndex: optional(whole), timeoutMs: optional(whole),
    expectedStatus: optional(value => statuses.includes(value)), note: optional(text),
    annotations: optional(list(object({ type: text, description: optional(text) }))),
    tries: value => list(object({ retry: whole, status: text, startedAt: text, durationMs: whole, errors: optional(list(error)) }))(value) && value.length > 0,
};
async function* lostEvents(tests, rootDir, version, knownFiles) {
    const event = (method, params) => JSON.stringify({ method, params });
    yield event('onBlobReportMetadata', { version: 2, userAgent: 'tas-runner', pathSeparator: path.sep });
    yield event('onConfigure', { config: { rootDir, version, workers: 0, globalTimeout: 0, maxFailures: 0, metadata: {}, globalSetup: null, globalTeardown: null } });
    const byProject = new Map();
    for (const test of tests) {
        byProject.set(test.project, byProject.get(test.project) ?? []);
        byProject.get(test.project).push(test);
    }
    const nameFile = fileNames(rootDir, knownFiles);
    for (const [name, own] of byProject)
        yield event('onProject', { project: project(name, own, nameFile) });
    yield event('onBegin');
    let first = Infinity;
    let last = 0;
    let good = true;
    for (const test of tests) {
        const expectedStatus = test.expectedStatus ?? 'passed';
        for (const { retry, status, startedAt, durationMs, errors } of test.tries) {
            // A test that never began, because its process was lost, has no time.
            const known = +new Date(startedAt) > 0;
            const startTime = known ? +new Date(startedAt) : Date.now();
            const id = `lost-${test.id}-${retry}`;
            yield event('onTestBegin', { testId: test.id, result: { id, retry, workerIndex: -1, parallelIndex: -1, startTime } });
            const annotations = annotationsOf(test);
            yield event('onTestEnd', {
                test: { testId: test.id, expectedStatus, timeout: test.timeoutMs ?? 0, annotations },
                result: { id, duration: durationMs, status, errors: (errors ?? []).map(error => withPlace(error)), attachments: [], annotations },
            });
            if (known) {
                first = Math.min(first, startTime);
                last = Math.max(last, startTime + durationMs);
            }
        }
        const end = test.tries[test.tries.length - 1].status;
        good &&= end === expectedStatus || end === 'skipped';
    }
    yield event('onEnd', { result: { status: good ? 'passed' : 'failed', startTime: last ? first : Date.now(), duration: last ? last - first : 0 } });
}
function project(name, tests, nameFile) {
    const suites = [];
    const suiteIn = (entries, title, location) => {
        let suite = entries.find(entry => entry.entries && entry.title === title);
        if (!suite)
            entries.push(suite = { title, location, entries: [] });
        return suite;
    };
    const byFile = new Map();
    for (const test of tests) {
        const file = nameFile(test.file);
        let parent = byFile.get(file);
        if (!parent)
            byFile.set(file, parent = suiteIn(suites, file, { file, line: 0, column: 0 }));
        for (const title of test.titlePath.slice(0, -1))
            parent = suiteIn(parent.entries, title, { file, line: test.line, column: test.column });
        parent.entries.push({
            testId: test.id, title: test.title, location: { file, line: test.line, column: test.column },
            retries: test.retries ?? 0, tags: test.tags ?? [], repeatEachIndex: test.repeatEachIndex ?? 0, annotations: annotationsOf(test),
        });
    }
    return {
        metadata: {}, name, outputDir: '', repeatEach: 1, retries: 0, testDir: '', testIgnore: [], testMatch: [], timeout: 0,
        suites, grep: [], grepInvert: [], dependencies: [], snapshotDir: '', use: {},
    };
}
function annotationsOf(test) {
    return [...test.annotations ?? [], ...(test.note ? [{ type: 'note', description: test.note }] : [])];
}
function withPlace(error) {
    return error.location ? { ...error, location: { ...error.location, file: path.resolve(error.location.file) } } : error;
}
/** The service knows files by the repository's package, a blob by the root of the tests. */
function fileNames(rootDir, known) {
    return file => {
        for (let rest = file;; rest = rest.slice(rest.indexOf('/') + 1)) {
            if (known.has(rest))
                return rest;
            if (!rest.includes('/'))
                return path.relative(rootDir, path.resolve(file));
        }
    };
}
