"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.lostTests = lostTests;
exports.lostEvents = lostEvents;
// Tests that a process finished before it was lost with its blob. What the service was told of them becomes events as
// Playwright's blob reporter writes them (version 2, that of every Playwright since 1.50).
const fs = require("fs");
const path = require("path");
const readline = require("readline");
async function* lostTests(file, onProblem) {
    let number = 0;
    for await (const line of readline.createInterface({ input: fs.createReadStream(file), crlfDelay: Infinity })) {
        number++;
        if (!line.trim())
            continue;
        try {
            const test = JSON.parse(line);
            if (typeof test.id !== 'string' || typeof test.file !== 'string' || !Array.isArray(test.titlePath) || !test.tries?.length)
                throw new Error('it lacks id, file, titlePath or tries');
            yield test;
        }
        catch (error) {
            onProblem(`line ${number} of the results of lost processes is left out: ${error.message}`);
        }
    }
}
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
            const startTime = +new Date(startedAt) || 0;
            const id = `lost-${test.id}-${retry}`;
            yield event('onTestBegin', { testId: test.id, result: { id, retry, workerIndex: -1, parallelIndex: -1, startTime } });
            const annotations = annotationsOf(test);
            yield event('onTestEnd', {
                test: { testId: test.id, expectedStatus, timeout: test.timeoutMs ?? 0, annotations },
                result: { id, duration: durationMs, status, errors: (errors ?? []).map(error => withPlace(error)), attachments: [], annotations },
            });
            first = Math.min(first, startTime);
            last = Math.max(last, startTime + durationMs);
        }
        const end = test.tries[test.tries.length - 1].status;
        good &&= end === expectedStatus || end === 'skipped';
    }
    yield event('onEnd', { result: { status: good ? 'passed' : 'failed', startTime: Math.min(first, last), duration: Math.max(0, last - first) } });
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
            retries: test.retries ?? 0, tags: test.tags ?? [], repeatEachIndex: 0, annotations: annotationsOf(test),
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
