"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Workers = exports.reportedOutputBytes = void 0;
// Knows Playwright's worker processes. Playwright gives a reporter no handle on them, so child_process.fork is wrapped
// before Playwright is loaded; the first message to a worker tells which index it has. Two things need the handle:
// a test whose process does nothing any more is killed, and a test that prints without end is cut short.
const childProcess = require("child_process");
const hooks_1 = require("./hooks");
const sabotaging_1 = require("./sabotaging");
const spare_1 = require("./spare");
/** What the reports keep of the output of one try of a test. 100 MB would go into the blob, the HTML and memory. */
exports.reportedOutputBytes = 1024 * 1024;
const cutNotice = '\n[tas-runner: this test printed more than 1 MiB, the rest was dropped]\n';
class Workers {
    limits;
    byIndex = new Map();
    spare;
    /** The tries, as `id retry`, whose process said that it had done its sabotage. */
    sabotaged = new Set();
    /** Changes the message that tells a process what it is for. */
    onInit = message => message;
    onHung = () => { };
    /** Where locators that find nothing are asked for. */
    recovery;
    constructor(limits) {
        this.limits = limits;
    }
    /** To be called before Playwright is loaded: it may keep the function. */
    watchForks(playwright, sabotage) {
        const plain = childProcess.fork;
        let fork = plain;
        if (sabotage?.length)
            fork = (0, hooks_1.forkHooked)(playwright, './sabotage.js', { sabotage }, plain);
        else if (this.recovery)
            fork = (0, hooks_1.forkHooked)(playwright, './recover.js', {}, plain);
        this.spare = sabotage?.length ? undefined : (0, spare_1.forkSpare)(playwright, fork);
        childProcess.fork = (...args) => {
            const child = this.spare?.take(args[0], args[1]) ?? fork.apply(childProcess, args);
            this.adopt(child);
            return child;
        };
    }
    /** No more tests will begin. */
    dropSpare() {
        this.spare?.drop();
    }
    testBegins(test, result) {
        const worker = this.byIndex.get(result.workerIndex);
        if (!worker)
            return;
        clearTimeout(worker.running?.timer);
        worker.printed = 0;
        worker.running = { test, retry: result.retry };
        const { factor, graceMs } = this.limits;
        if (test.timeout > 0 && factor > 0)
            this.watch(worker, worker.running, test.timeout * factor + graceMs, test.timeout * factor + graceMs);
    }
    testEnds(result) {
        const worker = this.byIndex.get(result.workerIndex);
        clearTimeout(worker?.running?.timer);
        if (worker)
            worker.running = undefined;
    }
    /**
     * After an abort Playwright waits for workers: minutes for one that is stuck, and a test's whole timeout where the
     * interruption came just as the test began and was lost. The stuck ones go soon, the rest after time to tidy up.
     */
    async killAfterAbort(answerWithinMs, allAfterMs) {
        setTimeout(() => this.byIndex.forEach(({ child }) => child.kill('SIGKILL')), allAfterMs).unref();
        await Promise.all([...this.byIndex.values()].map(async ({ child }) => {
            if (!await answers(child, answerWithinMs))
                child.kill('SIGKILL');
        }));
    }
    adopt(child) {
        const worker = { child, printed: 0 };
        const send = child.send;
        child.send = ((message, ...rest) => {
            const index = message?.method === '__init__' ? message.params?.runnerParams?.workerIndex : undefined;
            if (typeof index === 'number') {
                this.byIndex.set(index, worker);
                child.once('exit', () => {
                    clearTimeout(worker.running?.timer);
                    if (this.byIndex.get(index) === worker)
                        this.byIndex.delete(index);
                });
            }
            return send.call(child, message?.method === '__init__' ? this.onInit(message) : message, ...rest);
        });
        // console.log in a test comes as a message; what its own child processes print comes through the pipes.
        for (const stream of [child.stdout, child.stderr]) {
            if (stream)
                gate(stream, 'data', chunk => this.cut(worker, chunk));
        }
        gate(child, 'message', message => this.cutMessage(worker, message));
    }
    cutMessage(worker, message) {
        if (message?.method === sabotaging_1.doneMessage) {
            this.sabotaged.add(`${message.params?.testId} ${message.params?.retry}`);
            return undefined;
        }
        if (this.recovery?.take(worker.child, message, worker.running?.test.id, worker.running?.retry ?? 0))
            return undefined;
        const { method, params } = message?.params ?? {};
        if (message?.method !== '__dispatch__' || (method !== 'stdOut' && method !== 'stdErr') || !params)
            return message;
        const chunk = typeof params.text === 'string' ? Buffer.from(params.text) : Buffer.from(params.buffer ?? '', 'base64');
        const kept = this.cut(worker, chunk);
        if (kept === undefined)
            return undefined;
        return kept === chunk ? message : { ...message, params: { method, params: { text: kept.toString('utf8') } } };
    }
    /** What of this chunk the reporters see: all, some, or nothing (undefined). */
    cut(worker, chunk) {
        const before = worker.printed;
        worker.printed += chunk.length;
        if (worker.printed <= exports.reportedOutputBytes)
            return chunk;
        if (before > exports.reportedOutputBytes)
            return undefined;
        return Buffer.concat([chunk.subarray(0, exports.reportedOutputBytes - before), Buffer.from(cutNotice)]);
    }
    // A test may have raised its own timeout while it ran, which the main process does not see. So a test past its
    // limit is first asked for a sign of life: a worker whose event loop turns enforces the timeout itself.
    watch(worker, running, delayMs, limitMs) {
        running.timer = setTimeout(async () => {
            const alive = await answers(worker.child, Math.min(Math.max(this.limits.graceMs, 500), 10_000));
            if (worker.running !== running)
                return;
            if (alive) {
                this.watch(worker, running, Math.max(this.limits.graceMs, 1000), limitMs);
                return;
            }
            this.onHung(running.test, running.retry, limitMs);
            worker.child.kill('SIGKILL');
        }, Math.min(delayMs, 2 ** 31 - 1));
        running.timer.unref();
    }
}
exports.Workers = Workers;
// Playwright's worker answers every request, also one for a method that it does not have. IDs of Playwright's own
// requests are positive.
let lastProbe = 0;
function answers(child, withinMs) {
    return new Promise(resolve => {
        const id = --lastProbe;
        const done = (alive) => {
            clearTimeout(timer);
            child.off('message', onMessage);
            child.off('exit', onExit);
            resolve(alive);
        };
        const onMessage = (message) => {
            if (message?.method === '__dispatch__' && message.params?.id === id)
                done(true);
        };
        const onExit = () => done(true);
        const timer = setTimeout(() => done(false), withinMs);
        // Not child.on: that one is gated, and a gated listener cannot be taken off again.
        child.addListener('message', onMessage);
        child.addListener('exit', onExit);
        if (child.connected)
            child.send({ method: '__dispatch__', params: { id, method: 'tasRunnerProbe' } }, error => error && done(true));
        else
            done(true);
    });
}
/** Listeners of this event see what the filter leaves of it. */
function gate(emitter, gated, filter) {
    const on = emitter.on;
    emitter.on = (event, listener) => {
        if (event !== gated)
            return on.call(emitter, event, listener);
        return on.call(emitter, event, (value, ...rest) => {
            const kept = filter(value);
            if (kept !== undefined)
                listener(kept, ...rest);
        });
    };
}
