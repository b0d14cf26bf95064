// Knows Playwright's worker processes. Playwright gives a reporter no handle on them, so child_process.fork is wrapped
// before Playwright is loaded; the first message to a worker tells which index it has. Two things need the handle:
// a test whose process does nothing any more is killed, and a test that prints without end is cut short.
import * as childProcess from 'child_process';
import { forkHooked } from './hooks';
import type { Playwright } from './playwright';
import type { Sabotage } from './protocol';
import type { Recovery } from './recovering';
import { doneMessage } from './sabotaging';
import { forkSpare, type Spare } from './spare';
import type { TestCase } from './tests';

/** What the reports keep of the output of one try of a test. 100 MB would go into the blob, the HTML and memory. */
export const reportedOutputBytes = 1024 * 1024;
const cutNotice = '\n[tas-runner: this test printed more than 1 MiB, the rest was dropped]\n';

interface Running {
  test: TestCase;
  retry: number;
  timer?: NodeJS.Timeout;
}

interface Worker {
  child: childProcess.ChildProcess;
  running?: Running;
  printed: number;
}

export interface HangLimits {
  factor: number;
  graceMs: number;
}

export class Workers {
  private byIndex = new Map<number, Worker>();
  private spare: Spare | undefined;
  /** The tries, as `id retry`, whose process said that it had done its sabotage. */
  readonly sabotaged = new Set<string>();
  /** Changes the message that tells a process what it is for. */
  onInit: (message: any) => any = message => message;
  onHung: (test: TestCase, retry: number, limitMs: number) => void = () => {};

  /** Where locators that find nothing are asked for. */
  recovery?: Recovery;

  constructor(private limits: HangLimits) {}

  /** To be called before Playwright is loaded: it may keep the function. */
  watchForks(playwright: Playwright, sabotage?: Sabotage[]): void {
    const plain: any = childProcess.fork;
    let fork = plain;
    if (sabotage?.length)
      fork = forkHooked(playwright, './sabotage.js', { sabotage }, plain);
    else if (this.recovery)
      fork = forkHooked(playwright, './recover.js', {}, plain);
    this.spare = sabotage?.length ? undefined : forkSpare(playwright, fork);
    (childProcess as any).fork = (...args: any[]) => {
      const child: childProcess.ChildProcess = this.spare?.take(args[0], args[1]) ?? fork.apply(childProcess, args);
      this.adopt(child);
      return child;
    };
  }

  /** No more tests will begin. */
  dropSpare(): void {
    this.spare?.drop();
  }

  testBegins(test: TestCase, result: any): void {
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

  testEnds(result: any): void {
    const worker = this.byIndex.get(result.workerIndex);
    clearTimeout(worker?.running?.timer);
    if (worker)
      worker.running = undefined;
  }

  /**
   * After an abort Playwright waits for workers: minutes for one that is stuck, and a test's whole timeout where the
   * interruption came just as the test began and was lost. The stuck ones go soon, the rest after time to tidy up.
   */
  async killAfterAbort(answerWithinMs: number, allAfterMs: number): Promise<void> {
    setTimeout(() => this.byIndex.forEach(({ child }) => child.kill('SIGKILL')), allAfterMs).unref();
    await Promise.all([...this.byIndex.values()].map(async ({ child }) => {
      if (!await answers(child, answerWithinMs))
        child.kill('SIGKILL');
    }));
  }

  private adopt(child: childProcess.ChildProcess): void {
    const worker: Worker = { child, printed: 0 };
    const send = child.send;
    child.send = ((message: any, ...rest: any[]) => {
      const index = message?.method === '__init__' ? message.params?.runnerParams?.workerIndex : undefined;
      if (typeof index === 'number') {
        this.byIndex.set(index, worker);
        child.once('exit', () => {
          clearTimeout(worker.running?.timer);
          if (this.byIndex.get(index) === worker)
            this.byIndex.delete(index);
        });
      }
      return (send as any).call(child, message?.method === '__init__' ? this.onInit(message) : message, ...rest);
    }) as typeof child.send;
    // console.log in a test comes as a message; what its own child processes print comes through the pipes.
    for (const stream of [child.stdout, child.stderr]) {
      if (stream)
        gate(stream, 'data', chunk => this.cut(worker, chunk));
    }
    gate(child, 'message', message => this.cutMessage(worker, message));
  }

  private cutMessage(worker: Worker, message: any): any {
    if (message?.method === doneMessage) {
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
  private cut(worker: Worker, chunk: Buffer): Buffer | undefined {
    const before = worker.printed;
    worker.printed += chunk.length;
    if (worker.printed <= reportedOutputBytes)
      return chunk;
    if (before > reportedOutputBytes)
      return undefined;
    return Buffer.concat([chunk.subarray(0, reportedOutputBytes - before), Buffer.from(cutNotice)]);
  }

  // A test may have raised its own timeout while it ran, which the main process does not see. So a test past its
  // limit is first asked for a sign of life: a worker whose event loop turns enforces the timeout itself.
  private watch(worker: Worker, running: Running, delayMs: number, limitMs: number): void {
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

// Playwright's worker answers every request, also one for a method that it does not have. IDs of Playwright's own
// requests are positive.
let lastProbe = 0;

function answers(child: childProcess.ChildProcess, withinMs: number): Promise<boolean> {
  return new Promise(resolve => {
    const id = --lastProbe;
    const done = (alive: boolean) => {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onExit);
      resolve(alive);
    };
    const onMessage = (message: any) => {
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
function gate(emitter: any, gated: string, filter: (value: any) => any): void {
  const on = emitter.on;
  emitter.on = (event: string, listener: (...args: any[]) => void) => {
    if (event !== gated)
      return on.call(emitter, event, listener);
    return on.call(emitter, event, (value: any, ...rest: any[]) => {
      const kept = filter(value);
      if (kept !== undefined)
        listener(kept, ...rest);
    });
  };
}
