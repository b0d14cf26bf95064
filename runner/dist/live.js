"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Live = void 0;
// Lets the attempt decide, while Playwright runs, which of its tests this process executes. Playwright hands a phase's
// groups of tests to its Dispatcher. Here the Dispatcher gets the set-up groups alone; the others wait in a pool until
// they are granted, then they enter its queue as if they had always been there.
const innards_1 = require("./innards");
const tests_1 = require("./tests");
/** Which unit a group belongs to. Playwright copies a group for the retries, and this field with it. */
const unitOf = Symbol('unit');
const needed = ['run', 'stop', '_checkFinished', '_isWorkerRedundant', '_updateCounterForWorkerHash', '_scheduleJob'];
const runners = ['_runJobInWorker', '_startJobInWorker'];
class Live {
    session;
    innards;
    phase;
    granted = new Set();
    setup = new Set();
    /** Playwright was stopped in the middle: it may still come to its next phase, while the reports are written. */
    interrupted = false;
    constructor(session, innards) {
        this.session = session;
        this.innards = innards;
    }
    /** Throws NotLive where the Dispatcher is not the one that is known. */
    install() {
        const live = this;
        const prototype = this.innards.Dispatcher.prototype;
        const runner = runners.find(name => typeof prototype[name] === 'function');
        const missing = needed.find(name => typeof prototype[name] !== 'function') ?? (runner ? undefined : runners[0]);
        if (missing)
            throw (0, innards_1.notLive)(this.session.playwright, `its Dispatcher has no ${missing}`);
        const { run, stop, _checkFinished, _isWorkerRedundant } = prototype;
        const runJob = prototype[runner];
        prototype.run = async function (groups, ...rest) {
            const problem = whyUnknown(this, groups);
            if (problem) {
                live.session.fail('not-live', (0, innards_1.notLive)(live.session.playwright, problem).message);
                return new Promise(() => { }); // the process is about to end
            }
            if (live.interrupted || live.session.aborted)
                return;
            const pool = groups.filter(group => !live.isSetup(group.tests[0]));
            if (!pool.length)
                return run.call(this, groups, ...rest);
            const phase = live.phase = new Phase(this, pool, live.session);
            const done = run.call(this, groups.filter(group => live.isSetup(group.tests[0])), ...rest);
            phase.offer();
            await done;
            phase.end();
            live.phase = undefined;
        };
        prototype.stop = async function () {
            const phase = live.phaseOf(this);
            if (!this._isStopped && !this._finished.isDone() && !reachedMaxFailures(this))
                live.interrupted = true;
            const done = stop.call(this);
            phase?.tell();
            return done;
        };
        prototype._checkFinished = function () {
            const phase = live.phaseOf(this);
            phase?.changed();
            if (!phase?.open || this._isStopped)
                _checkFinished.call(this);
        };
        prototype._isWorkerRedundant = function (worker) {
            return !live.phaseOf(this)?.needs(worker.hash()) && _isWorkerRedundant.call(this, worker);
        };
        prototype[runner] = async function (index, work) {
            const job = work.job ?? work;
            const unit = job[unitOf];
            const phase = live.phaseOf(this);
            phase?.begins(job, unit);
            try {
                return await runJob.call(this, index, work);
            }
            finally {
                phase?.ends(job, unit);
            }
        };
    }
    onMessage(message) {
        if (message.type === 'close') {
            this.phase?.close();
        }
        else if (message.type === 'grant') {
            const refused = message.units.flatMap(ids => this.take(ids));
            this.phase?.schedule();
            if (refused.length)
                this.session.channel.send({ type: 'refused', ids: refused });
        }
    }
    /** Nothing may run that was not granted, whatever a Playwright does that nobody has seen yet. */
    mayRun(test) {
        return this.granted.has(test.id) || this.isSetup(test);
    }
    setSetup(config) {
        this.setup = (0, tests_1.setupProjectNames)(config);
    }
    isSetup(test) {
        return this.setup.has((0, tests_1.projectName)(test));
    }
    phaseOf(dispatcher) {
        return this.phase?.dispatcher === dispatcher ? this.phase : undefined;
    }
    take(ids) {
        const refused = this.phase?.grant(ids) ?? ids;
        const no = new Set(refused);
        ids.forEach(id => no.has(id) || this.granted.add(id));
        return refused;
    }
}
exports.Live = Live;
/** A phase of Playwright's that has tests to grant. */
class Phase {
    dispatcher;
    session;
    open = true;
    ended = false;
    offered = new Map();
    waitingByHash = new Map();
    units = new Set();
    running = [];
    last;
    telling = false;
    constructor(dispatcher, pool, session) {
        this.dispatcher = dispatcher;
        this.session = session;
        for (const group of pool) {
            for (const test of group.tests)
                this.offered.set(test.id, { test, group });
            this.count(group.workerHash, group.tests.length);
        }
    }
    offer() {
        if (this.dispatcher._isStopped)
            return; // after too many failures: Playwright comes here and runs nothing
        this.session.channel.send({ type: 'offer', ids: [...this.offered.keys()] });
        this.tell();
    }
    /** Queues these; says which of them are not on offer. */
    grant(ids) {
        if (!this.open || this.dispatcher._isStopped)
            return ids;
        const refused = [];
        const jobs = new Map();
        const unit = { ids: new Set(), begun: false, running: 0 };
        for (const id of ids) {
            const found = this.offered.get(id);
            if (!found) {
                refused.push(id);
                continue;
            }
            const { test, group } = found;
            this.offered.delete(id);
            this.count(group.workerHash, -1);
            unit.ids.add(id);
            const key = JSON.stringify([group.projectId, group.workerHash, group.requireFile, group.repeatEachIndex]);
            const job = jobs.get(key) ?? { ...group, tests: [], [unitOf]: unit };
            job.tests.push(test);
            jobs.set(key, job);
        }
        if (!unit.ids.size)
            return refused;
        this.units.add(unit);
        for (const job of jobs.values()) {
            if (job.locks)
                job.locks = [...new Set(job.tests.flatMap(test => test._locks ?? []))];
            this.dispatcher._updateCounterForWorkerHash(job.workerHash, 1);
            this.enqueue(job);
        }
        return refused;
    }
    /** Retries in isolation wait for the end of the queue in Playwright too. */
    enqueue(job) {
        const queue = this.dispatcher._queue;
        const isolated = queue.findIndex(({ locks }) => locks?.includes('-exclusive-'));
        queue.splice(isolated < 0 ? queue.length : isolated, 0, job);
    }
    schedule() {
        this.last = undefined; // a grant is always answered: what was granted may be over at once
        const { dispatcher } = this;
        if (dispatcher._scheduleJobs)
            dispatcher._scheduleJobs();
        else
            dispatcher._workerSlots.forEach(() => void dispatcher._scheduleJob());
        this.changed();
    }
    close() {
        this.open = false;
        this.dispatcher._checkFinished();
    }
    end() {
        this.tell();
        this.ended = true;
    }
    needs(workerHash) {
        return this.open && !!this.waitingByHash.get(workerHash);
    }
    begins(job, unit) {
        this.running.push(job);
        if (unit) {
            unit.begun = true;
            unit.running++;
        }
        this.changed();
    }
    ends(job, unit) {
        this.running.splice(this.running.indexOf(job), 1);
        if (unit)
            unit.running--;
        this.changed();
    }
    /** To be called before Playwright schedules anything more; tells when it has. */
    changed() {
        // A serial group is retried as a whole, also its members that are granted elsewhere, or that were here and are over.
        const queue = this.dispatcher._queue;
        for (const job of queue) {
            const own = job[unitOf]?.ids;
            if (own && job.tests.some(({ id }) => !own.has(id)))
                job.tests = job.tests.filter(({ id }) => own.has(id));
        }
        if (this.telling)
            return;
        this.telling = true;
        setImmediate(() => {
            this.telling = false;
            this.tell();
        });
    }
    tell() {
        if (this.ended)
            return;
        const queue = this.dispatcher._queue;
        const queued = new Set(queue.map(job => job[unitOf]));
        for (const unit of this.units) {
            if (!unit.running && unit.begun && !queued.has(unit)) {
                this.units.delete(unit);
                this.session.channel.send({ type: 'over', ids: [...unit.ids] });
            }
        }
        const waiting = [...this.units].filter(unit => !unit.begun).length;
        const stopped = this.dispatcher._isStopped;
        if (!this.open && !stopped)
            return;
        const want = { type: 'want', free: stopped ? 0 : this.free(), queued: stopped ? 0 : waiting };
        if (this.last?.free === want.free && this.last?.queued === want.queued)
            return;
        this.last = want;
        this.session.channel.send(want);
    }
    /** Workers with nothing to do that could begin something of what is on offer. */
    free() {
        if (this.running.some(job => job.locks?.includes('-exclusive-')))
            return 0;
        const idle = this.dispatcher._workerSlots.filter((slot) => !slot.busy && !slot.jobDispatcher).length;
        const limits = this.dispatcher._workerLimitPerProjectId ?? new Map();
        if (!limits.size || !this.offered.size)
            return idle;
        let room = 0;
        for (const projectId of new Set([...this.offered.values()].map(({ group }) => group.projectId))) {
            const limit = limits.get(projectId) ?? Infinity;
            room += Math.max(0, limit - this.running.filter(job => job.projectId === projectId).length);
        }
        return Math.min(idle, room);
    }
    count(workerHash, delta) {
        this.waitingByHash.set(workerHash, (this.waitingByHash.get(workerHash) ?? 0) + delta);
    }
}
/** What of a Dispatcher and its groups is not as it is known, in words; undefined: all is. */
function whyUnknown(dispatcher, groups) {
    if (!Array.isArray(dispatcher._queue) || !Array.isArray(dispatcher._workerSlots) || typeof dispatcher._isStopped !== 'boolean' || typeof dispatcher._finished?.isDone !== 'function')
        return 'its Dispatcher keeps its queue or its workers in another way';
    if (typeof (dispatcher._failureTracker ?? dispatcher._testRun)?.hasReachedMaxFailures !== 'function')
        return 'its Dispatcher does not know of the failures';
    const odd = groups.find(({ tests, workerHash, requireFile, projectId }) => !Array.isArray(tests) || !tests.length || [workerHash, requireFile, projectId].some(key => typeof key !== 'string'));
    return odd && 'its groups of tests are not of the known form';
}
function reachedMaxFailures(dispatcher) {
    return (dispatcher._failureTracker ?? dispatcher._testRun).hasReachedMaxFailures();
}
