"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
// The reporter that Playwright constructs in the process of the runner: it lists, lets the attempt select, and tells
// everything that happens. It must never throw by accident, because that would make the run fail.
const path = require("path");
const attachments_1 = require("./attachments");
const blob_1 = require("./blob");
const browsers_1 = require("./browsers");
const output_1 = require("./output");
const loading_1 = require("./loading");
const recording_1 = require("./recording");
const selection_1 = require("./selection");
const session_1 = require("./session");
const tests_1 = require("./tests");
const text_1 = require("./text");
const units_1 = require("./units");
const testsPerMessage = 500;
const announcedSteps = new Set(['test.step', 'pw:api', 'expect', 'hook']);
class Reporter {
    session = (0, session_1.getSession)();
    config;
    listed = [];
    chosen;
    everything = false;
    attachments = new attachments_1.Attachments(this.session.start.outDir);
    output = new output_1.Output(message => this.session.channel.sendLater(message));
    alone;
    record = this.session.start.only?.record;
    running = new Map();
    hung = new Map();
    errors = 0;
    begun = false;
    focused = false;
    /** Playwright has a selection and begins with an empty tree: its reasons follow as errors. */
    refused = false;
    loadErrorsRaised;
    sendErrorsOfFiles = true;
    constructor() {
        this.session.reporting = true;
        this.session.workers.onHung = (test, retry, limitMs) => {
            this.hung.set(`${test.id} ${retry}`, limitMs);
            this.session.channel.send({ type: 'hung', id: test.id, retry, limitMs });
        };
        // The process that listed has told them already.
        this.sendErrorsOfFiles = !this.session.start.only?.loadErrors;
        for (const method of ['onBegin', 'onTestBegin', 'onTestEnd', 'onStepBegin', 'onStepEnd', 'onStdOut', 'onStdErr', 'onError', 'onEnd', 'onExit'])
            this.guard(method);
    }
    printsToStdio() {
        return true;
    }
    /** Playwright 1.62 and later, before the run: the tree can still be changed. */
    async preprocess({ config, suite, testRun }) {
        if (this.session.mode !== 'ask')
            return;
        this.config = config;
        this.forbidRetries(suite);
        if (config.shard)
            testRun.skipSharding();
        this.list(suite, suite.allTests(), (0, tests_1.hasFocus)(suite));
        this.session.channel.send({ type: 'listed', total: this.listed.length, fatal: false, focused: (0, tests_1.hasFocus)(suite) });
        this.session.listed = true;
        const select = await this.session.selection;
        if (!select) {
            // Aborted, perhaps before Playwright listened to signals. It stops waiting for us now.
            process.emit('SIGINT', 'SIGINT');
            return new Promise(() => { });
        }
        this.record = select.record;
        const chosen = this.choose(select);
        if (!chosen)
            return new Promise(() => { }); // the process is about to end
        const along = this.along(chosen);
        const broken = (0, selection_1.brokenSetup)(along, this.broken());
        if (broken)
            throw new Error(broken);
        const orphans = select.all ? [] : (0, selection_1.orphanSetup)(chosen, this.listed, project => along.has(project));
        if (orphans.length) {
            const alone = this.listed.filter(({ wire }) => chosen.has(wire.id)).map(({ wire }) => wire);
            // Here Playwright stops as after Ctrl+C, so that its web server and global set-up are taken down before they are
            // started once more; the other process begins in onExit.
            this.alone = { ids: alone.map(wire => wire.id), projects: [...new Set(alone.map(wire => wire.project))] };
            process.emit('SIGINT', 'SIGINT');
            return new Promise(() => { });
        }
        if (select.all)
            return;
        for (const test of suite.allTests()) {
            if (!chosen.has(test.id) && !along.has((0, tests_1.projectName)(test)))
                tryTo(() => testRun.exclude(test));
        }
    }
    onBegin(config, suite) {
        this.config = config;
        this.forbidRetries(suite);
        this.session.live?.setSetup(config);
        if (this.session.mode === 'list') {
            const focused = (0, tests_1.hasFocus)(suite);
            this.list(suite, this.session.start.focus ? (0, tests_1.focusedTests)(suite) : suite.allTests(), focused);
            return;
        }
        if (!this.session.listed && this.session.mode === 'ask') {
            // Global set-up failed, or the files could not be collected: there is no tree.
            this.sendLoadErrors();
            this.session.channel.send({ type: 'listed', total: 0, fatal: true });
            this.session.listed = true;
        }
        else if (!this.session.aborted && (this.chosen || this.session.mode === 'only')) {
            const chosen = this.chosen ?? new Set(this.session.start.only.ids);
            this.everything ||= !!this.session.start.only?.all;
            this.refused = chosen.size > 0 && !suite.suites.length;
            if (!this.refused && !this.compare(suite, chosen))
                return;
        }
        if (this.record)
            this.startRecording(config);
        this.session.channel.send({ type: 'begin', startedAt: new Date().toISOString() });
        if (this.session.aborted)
            process.emit('SIGINT', 'SIGINT');
    }
    onTestBegin(test, result) {
        if (this.session.live?.mayRun(test) === false)
            return this.session.fail('not-live', `Playwright ran a test that was not granted: ${test.titlePath().slice(1).join(' › ')}`);
        this.begun = true;
        this.session.workers.testBegins(test, result);
        this.running.set(result, test);
        this.session.channel.send({
            type: 'testBegin', id: test.id, retry: result.retry, workerIndex: result.workerIndex, parallelIndex: result.parallelIndex,
            startedAt: iso(result.startTime),
        });
        this.raiseLoadErrors();
    }
    onStepBegin(test, result, step) {
        if (!announcedSteps.has(step.category))
            return;
        this.session.channel.sendLater({
            type: 'stepBegin', id: test.id, retry: result.retry, title: (0, text_1.stepTitle)(step.title), category: step.category,
            startedAt: iso(step.startTime), depth: depthOf(step),
        });
    }
    onStepEnd(test, result, step) {
        this.session.channel.sendLater({
            type: 'step', id: test.id, retry: result.retry, title: (0, text_1.stepTitle)(step.title), category: step.category,
            location: (0, text_1.wireLocation)(step.location), startedAt: iso(step.startTime), durationMs: whole(step.duration),
            error: step.error && (0, text_1.wireError)(step.error), depth: depthOf(step),
        });
    }
    onStdOut(chunk, test, result) {
        this.output.add('stdout', chunk, test, result);
    }
    onStdErr(chunk, test, result) {
        this.output.add('stderr', chunk, test, result);
    }
    onTestEnd(test, result) {
        this.session.workers.testEnds(result);
        this.running.delete(result);
        for (const error of result.errors ?? [])
            this.explain(error, test, result);
        const failed = result.status !== 'skipped' && result.status !== 'interrupted' && result.status !== test.expectedStatus;
        const willRetry = failed && result.retry < test.retries && !this.session.aborted;
        if (willRetry)
            this.session.recording?.willRetry(test);
        const evidence = this.session.recording?.takeOut(test, result, failed);
        this.session.channel.send({
            type: 'testEnd', id: test.id, retry: result.retry, status: result.status ?? 'interrupted', expectedStatus: test.expectedStatus,
            startedAt: iso(result.startTime), durationMs: whole(result.duration), workerIndex: result.workerIndex,
            willRetry,
            errors: (result.errors ?? []).map(text_1.wireError), attachments: this.attachments.wire([...result.attachments ?? [], ...evidence ? [evidence] : []]),
            sabotaged: this.session.workers.sabotaged.has(`${test.id} ${result.retry}`) || undefined,
            recovered: this.session.workers.recovery?.takeOut(test.id, result.retry),
            annotations: (0, tests_1.wireAnnotations)(result.annotations ?? test.annotations),
        });
        this.attachments.prune(result.attachments);
    }
    /** Says in plain words what Playwright can only say in its own. Before blob and HTML: we are the first reporter. */
    explain(error, test, result) {
        const message = String(error.message ?? '');
        const limitMs = this.hung.get(`${test.id} ${result.retry}`);
        let explained = (0, browsers_1.explainMissingBrowser)(message, this.session.browsers);
        if (limitMs !== undefined && message.includes('worker process exited unexpectedly'))
            explained = `the test was stuck: after ${limitMs} ms its process did not even answer any more and was killed. An endless loop?`;
        if (!explained)
            return;
        error.message = 'Error: ' + explained;
        error.stack = undefined;
    }
    onError(error) {
        if (this.loadErrorsRaised && error?.message?.includes(this.loadErrorsRaised.message))
            return; // each of them was sent on its own
        this.errors++;
        this.session.channel.send({ type: 'error', ...(0, text_1.wireError)(error) });
    }
    async onEnd(result) {
        if (this.session.mode === 'list') {
            this.sendLoadErrors();
            this.session.channel.send({ type: 'listed', total: this.listed.length, fatal: this.errors > 0 && !this.listed.length, focused: this.focused, brokenProjects: this.session.start.focus ? this.broken() : undefined });
            this.session.listed = true;
            return undefined;
        }
        if (this.refused && !this.errors) {
            this.session.fail('internal', 'Playwright would run nothing of what was selected, and says no reason');
            return undefined;
        }
        if (result.status !== 'interrupted' && this.begun)
            this.session.recording?.ended();
        // Tests whose worker had to be killed after an abort: Playwright says nothing more of them.
        for (const [interrupted, test] of [...this.running])
            this.onTestEnd(test, { ...interrupted, status: 'interrupted', errors: [] });
        this.running.clear();
        const status = result.status === 'passed' && this.session.loadErrors.length ? 'failed' : result.status;
        this.session.channel.send({ type: 'end', status, startedAt: iso(result.startTime), durationMs: whole(result.duration) });
        this.raiseLoadErrors(); // where not even one test was run
        return { status };
    }
    /** Playwright calls the onExit of all reporters after every one of their onEnd: blob and HTML are written. */
    async onExit() {
        if (this.alone) {
            this.session.workers.dropSpare();
            await this.session.runAlone(this.alone.ids, this.alone.projects, this.record);
        }
        this.session.workers.dropSpare();
        if (this.session.live) {
            await (0, blob_1.dropStrangers)(path.join(this.session.start.outDir, 'blob', 'report.zip')).catch(error => this.session.channel.send({ type: 'error', message: `tas-runner: the blob names tests that were not run here: ${error.message}` }));
        }
        this.session.ended = true;
        this.session.channel.send({ type: 'bye' });
        await this.session.channel.drain();
    }
    /** A trial has none: what test.describe.configure asks for goes before the command line. */
    forbidRetries(suite) {
        if (this.session.start.trial)
            suite.allTests().forEach(test => test.retries = 0);
    }
    startRecording(config) {
        const { session } = this;
        const recording = session.recording = new recording_1.Recording(config.projects, message => session.channel.send({ type: 'warning', code: 'not-recorded', message }));
        session.workers.onInit = message => recording.instruct(message);
    }
    list(root, tests, focused) {
        const { channel, browsers, start, innards } = this.session;
        this.focused = focused;
        const { config } = this;
        channel.send({
            type: 'suite', rootDir: config.rootDir, configFile: config.configFile ?? null, workers: config.workers,
            maxFailures: config.maxFailures, globalTimeoutMs: config.globalTimeout, projects: (0, tests_1.wireProjects)(config, browsers),
        });
        const setup = (0, tests_1.setupProjectNames)(config);
        const wires = (0, tests_1.wireTests)(tests, setup);
        const units = innards && (0, units_1.unitsOf)(root, setup, start.shards, innards);
        wires.forEach(wire => wire.unit = units?.get(wire.id));
        this.listed = wires.map((wire, index) => ({ wire, grepTitle: (0, tests_1.grepTitle)(tests[index], wire) }));
        if (start.focus)
            this.listed.forEach(({ wire, grepTitle }) => wire.grepTitle = grepTitle);
        for (let i = 0; i < wires.length; i += testsPerMessage)
            channel.send({ type: 'tests', tests: wires.slice(i, i + testsPerMessage) });
        if (this.session.mode !== 'list')
            this.sendLoadErrors();
    }
    choose(select) {
        try {
            this.everything = select.all === true;
            return this.chosen = (0, selection_1.choose)(select, this.listed, this.session.start.grepTimeoutMs ?? 10_000);
        }
        catch (error) {
            this.session.fail((0, selection_1.problemCode)(error), error.message);
            return undefined;
        }
    }
    broken() {
        return (0, loading_1.brokenProjects)(this.session.playwright, this.config, this.session.loadErrors);
    }
    along(chosen) {
        const own = this.listed.filter(({ wire }) => chosen.has(wire.id) && !wire.setup).map(({ wire }) => wire.project);
        return (0, selection_1.projectsAlong)((0, tests_1.wireProjects)(this.config, this.session.browsers), new Set(own));
    }
    /** Selection must be exact: what Playwright is about to run is held against what was chosen. */
    compare(suite, chosen) {
        const setup = (0, tests_1.setupProjectNames)(this.config);
        const ids = [];
        const setupIds = [];
        const surprising = [];
        const missing = new Set(chosen);
        for (const test of suite.allTests()) {
            missing.delete(test.id);
            const isSetup = setup.has((0, tests_1.projectName)(test));
            if (chosen.has(test.id) && !(isSetup && this.everything))
                ids.push(test.id);
            else if (isSetup)
                setupIds.push(test.id);
            else
                surprising.push(test.titlePath().slice(1).join(' › '));
        }
        if (this.everything)
            missing.clear();
        if (surprising.length || missing.size) {
            const listed = this.session.mode === 'only' ? this.session.listedBefore : this.listed;
            const titles = new Map(listed.map(({ wire }) => [wire.id, [wire.project, wire.file, ...wire.titlePath].join(' › ')]));
            const parts = [];
            if (missing.size)
                parts.push(`Playwright would not run these selected tests: ${(0, selection_1.someOf)([...missing].map(id => titles.get(id) ?? id))}`);
            if (surprising.length)
                parts.push(`Playwright would run these tests that were not selected: ${(0, selection_1.someOf)(surprising)}`);
            this.session.fail('internal', parts.join('. '));
            return false;
        }
        this.session.channel.send({ type: 'selected', ids, setupIds });
        return true;
    }
    sendLoadErrors() {
        if (!this.sendErrorsOfFiles)
            return;
        this.sendErrorsOfFiles = false;
        for (const { file, error } of this.session.loadErrors) {
            const location = error.location ?? { file, line: 1, column: 1 };
            this.session.channel.send({ type: 'error', ...(0, text_1.wireError)({ snippet: (0, text_1.snippetAt)(location), ...error, location }) });
        }
    }
    // The files that do load are run; the run has failed nonetheless. An error thrown by a reporter on purpose is what
    // brings that into the blob and the HTML report, which we do not write. Not thrown in onBegin: Playwright would
    // then wait for ever with handing us output and errors.
    raiseLoadErrors() {
        const { loadErrors } = this.session;
        if (!loadErrors.length || this.loadErrorsRaised || !this.session.reportersSeeEachOthersErrors)
            return;
        const text = loadErrors.map(({ file, error }) => (0, text_1.stripAnsi)(error.message ?? String(error.value)) + '\n\n' + (0, text_1.snippetAt)(error.location ?? { file, line: 1, column: 1 })).join('\n\n');
        const error = new Error(`${loadErrors.length === 1 ? 'a test file does' : `${loadErrors.length} test files do`} not load; the other files were run\n\n${text}`);
        error.stack = '';
        this.loadErrorsRaised = error;
        throw error;
    }
    guard(method) {
        const call = this[method];
        const tell = (error) => {
            if (error === this.loadErrorsRaised)
                throw error;
            this.session.channel.send({ type: 'error', message: `tas-runner, in ${method}: ${error?.message ?? error}`, stack: error?.stack });
        };
        this[method] = (...args) => {
            if (this.alone && method !== 'onExit')
                return undefined; // another process will tell
            try {
                const result = call.apply(this, args);
                return result instanceof Promise ? result.catch(tell) : result;
            }
            catch (error) {
                return tell(error);
            }
        };
    }
}
function depthOf(step) {
    let depth = 0;
    for (let parent = step.parent; parent; parent = parent.parent)
        depth++;
    return depth;
}
function iso(time) {
    return (time instanceof Date && !isNaN(+time) ? time : new Date()).toISOString();
}
function whole(duration) {
    return Math.max(0, Math.round(duration ?? 0));
}
function tryTo(act) {
    try {
        act();
    }
    catch {
        // a project that Playwright runs in full or not at all
    }
}
exports.default = Reporter;
