// Lets the attempt decide, while Playwright runs, which of its tests this process executes. Playwright hands a phase's
// groups of tests to its Dispatcher. Here the Dispatcher gets the set-up groups alone; the others wait in a pool until
// they are granted, then they enter its queue as if they had always been there.
import { notLive, type Group, type Innards } from './innards';
import type { FromAttempt, Message } from './protocol';
import type { Session } from './session';
import { projectName, setupProjectNames, type TestCase } from './tests';

/** Which unit a group belongs to. Playwright copies a group for the retries, and this field with it. */
const unitOf = Symbol('unit');

interface Unit {
  ids: Set<string>;
  begun: boolean;
  running: number;
}

type Job = Group & { [unitOf]?: Unit };

const needed = ['run', 'stop', '_checkFinished', '_isWorkerRedundant', '_updateCounterForWorkerHash', '_scheduleJob'];
const runners = ['_runJobInWorker', '_startJobInWorker'];

export class Live {
  private phase: Phase | undefined;
  private granted = new Set<string>();
  private setup = new Set<string>();
  /** Playwright was stopped in the middle: it may still come to its next phase, while the reports are written. */
  interrupted = false;

  constructor(private session: Session, private innards: Innards) {}

  /** Throws NotLive where the Dispatcher is not the one that is known. */
  install(): void {
    const live = this;
    const prototype = this.innards.Dispatcher.prototype;
    const runner = runners.find(name => typeof prototype[name] === 'function');
    const missing = needed.find(name => typeof prototype[name] !== 'function') ?? (runner ? undefined : runners[0]);
    if (missing)
      throw notLive(this.session.playwright, `its Dispatcher has no ${missing}`);
    const { run, stop, _checkFinished, _isWorkerRedundant } = prototype;
    const runJob = prototype[runner!];

    prototype.run = async function(groups: Group[], ...rest: unknown[]) {
      const problem = whyUnknown(this, groups);
      if (problem) {
        live.session.fail('not-live', notLive(live.session.playwright, problem).message);
        return new Promise(() => {}); // the process is about to end
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
    prototype.stop = async function() {
      const phase = live.phaseOf(this);
      if (!this._isStopped && !this._finished.isDone() && !reachedMaxFailures(this))
        live.interrupted = true;
      const done = stop.call(this);
      phase?.tell();
      return done;
    };
    prototype._checkFinished = function() {
      const phase = live.phaseOf(this);
      phase?.changed();
      if (!phase?.open || this._isStopped)
        _checkFinished.call(this);
    };
    prototype._isWorkerRedundant = function(worker: any) {
      return !live.phaseOf(this)?.needs(worker.hash()) && _isWorkerRedundant.call(this, worker);
    };
    prototype[runner!] = async function(index: number, work: any) {
      const job: Job = work.job ?? work;
      const unit = job[unitOf];
      const phase = live.phaseOf(this);
      phase?.begins(job, unit);
      try {
        return await runJob.call(this, index, work);
      } finally {
        phase?.ends(job, unit);
      }
    };
  }

  onMessage(message: FromAttempt): void {
    if (message.type === 'close') {
      this.phase?.close();
    } else if (message.type === 'grant') {
      const refused = message.units.flatMap(ids => this.take(ids));
      this.phase?.schedule();
      if (refused.length)
        this.session.channel.send({ type: 'refused', ids: refused });
    }
  }

  /** Nothing may run that was not granted, whatever a Playwright does that nobody has seen yet. */
  mayRun(test: TestCase): boolean {
    return this.granted.has(test.id) || this.isSetup(test);
  }

  setSetup(config: any): void {
    this.setup = setupProjectNames(config);
  }

  private isSetup(test: TestCase): boolean {
    return this.setup.has(projectName(test));
  }

  private phaseOf(dispatcher: unknown): Phase | undefined {
    return this.phase?.dispatcher === dispatcher ? this.phase : undefined;
  }

  private take(ids: string[]): string[] {
    const refused = this.phase?.grant(ids) ?? ids;
    const no = new Set(refused);
    ids.forEach(id => no.has(id) || this.granted.add(id));
    return refused;
  }
}

/** A phase of Playwright's that has tests to grant. */
class Phase {
  open = true;
  private ended = false;
  private offered = new Map<string, { test: TestCase; group: Group }>();
  private waitingByHash = new Map<string, number>();
  private units = new Set<Unit>();
  private running: Job[] = [];
  private last: Message | undefined;
  private telling = false;

  constructor(readonly dispatcher: any, pool: Group[], private session: Session) {
    for (const group of pool) {
      for (const test of group.tests)
        this.offered.set(test.id, { test, group });
      this.count(group.workerHash, group.tests.length);
    }
  }

  offer(): void {
    if (this.dispatcher._isStopped)
      return; // after too many failures: Playwright comes here and runs nothing
    this.session.channel.send({ type: 'offer', ids: [...this.offered.keys()] });
    this.tell();
  }

  /** Queues these; says which of them are not on offer. */
  grant(ids: string[]): string[] {
    if (!this.open || this.dispatcher._isStopped)
      return ids;
    const refused: string[] = [];
    const jobs = new Map<string, Job>();
    const unit: Unit = { ids: new Set(), begun: false, running: 0 };
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
  private enqueue(job: Job): void {
    const queue: Job[] = this.dispatcher._queue;
    const isolated = queue.findIndex(({ locks }) => locks?.includes('-exclusive-'));
    queue.splice(isolated < 0 ? queue.length : isolated, 0, job);
  }

  schedule(): void {
    this.last = undefined; // a grant is always answered: what was granted may be over at once
    const { dispatcher } = this;
    if (dispatcher._scheduleJobs)
      dispatcher._scheduleJobs();
    else
      dispatcher._workerSlots.forEach(() => void dispatcher._scheduleJob());
    this.changed();
  }

  close(): void {
    this.open = false;
    this.dispatcher._checkFinished();
  }

  end(): void {
    this.tell();
    this.ended = true;
  }

  needs(workerHash: string): boolean {
    return this.open && !!this.waitingByHash.get(workerHash);
  }

  begins(job: Job, unit: Unit | undefined): void {
    this.running.push(job);
    if (unit) {
      unit.begun = true;
      unit.running++;
    }
    this.changed();
  }

  ends(job: Job, unit: Unit | undefined): void {
    this.running.splice(this.running.indexOf(job), 1);
    if (unit)
      unit.running--;
    this.changed();
  }

  /** To be called before Playwright schedules anything more; tells when it has. */
  changed(): void {
    // A serial group is retried as a whole, also its members that are granted elsewhere, or that were here and are over.
    const queue: Job[] = this.dispatcher._queue;
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

  tell(): void {
    if (this.ended)
      return;
    const queue: Job[] = this.dispatcher._queue;
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
    const want: Message = { type: 'want', free: stopped ? 0 : this.free(), queued: stopped ? 0 : waiting };
    if (this.last?.free === want.free && this.last?.queued === want.queued)
      return;
    this.last = want;
    this.session.channel.send(want);
  }

  /** Workers with nothing to do that could begin something of what is on offer. */
  private free(): number {
    if (this.running.some(job => job.locks?.includes('-exclusive-')))
      return 0;
    const idle = this.dispatcher._workerSlots.filter((slot: any) => !slot.busy && !slot.jobDispatcher).length;
    const limits: Map<string, number> = this.dispatcher._workerLimitPerProjectId ?? new Map();
    if (!limits.size || !this.offered.size)
      return idle;
    let room = 0;
    for (const projectId of new Set([...this.offered.values()].map(({ group }) => group.projectId))) {
      const limit = limits.get(projectId) ?? Infinity;
      room += Math.max(0, limit - this.running.filter(job => job.projectId === projectId).length);
    }
    return Math.min(idle, room);
  }

  private count(workerHash: string, delta: number): void {
    this.waitingByHash.set(workerHash, (this.waitingByHash.get(workerHash) ?? 0) + delta);
  }
}

/** What of a Dispatcher and its groups is not as it is known, in words; undefined: all is. */
function whyUnknown(dispatcher: any, groups: Group[]): string | undefined {
  if (!Array.isArray(dispatcher._queue) || !Array.isArray(dispatcher._workerSlots) || typeof dispatcher._isStopped !== 'boolean' || typeof dispatcher._finished?.isDone !== 'function')
    return 'its Dispatcher keeps its queue or its workers in another way';
  if (typeof (dispatcher._failureTracker ?? dispatcher._testRun)?.hasReachedMaxFailures !== 'function')
    return 'its Dispatcher does not know of the failures';
  const odd = groups.find(({ tests, workerHash, requireFile, projectId }) =>
    !Array.isArray(tests) || !tests.length || [workerHash, requireFile, projectId].some(key => typeof key !== 'string'));
  return odd && 'its groups of tests are not of the known form';
}

function reachedMaxFailures(dispatcher: any): boolean {
  return (dispatcher._failureTracker ?? dispatcher._testRun).hasReachedMaxFailures();
}
