// The reporter that Playwright constructs in the process of the runner: it lists, lets the attempt select, and tells
// everything that happens. It must never throw by accident, because that would make the run fail.
import * as path from 'path';
import type { Location, Select } from './protocol';
import { Attachments } from './attachments';
import { dropStrangers } from './blob';
import { explainMissingBrowser } from './browsers';
import { Output } from './output';
import { brokenProjects } from './loading';
import { Recording } from './recording';
import { brokenSetup, choose, orphanSetup, problemCode, projectsAlong, someOf, type Listed } from './selection';
import { getSession, type Session } from './session';
import { focusedTests, grepTitle, hasFocus, projectName, setupProjectNames, wireAnnotations, wireProjects, wireTests, type Suite, type TestCase } from './tests';
import { snippetAt, stepTitle, stripAnsi, wireError, wireLocation } from './text';
import { unitsOf } from './units';

const testsPerMessage = 500;
const announcedSteps = new Set(['test.step', 'pw:api', 'expect', 'hook']);

class Reporter {
  private session: Session = getSession();
  private config: any;
  private listed: Listed[] = [];
  private chosen: Set<string> | undefined;
  private everything = false;
  private attachments = new Attachments(this.session.start.outDir);
  private output = new Output(message => this.session.channel.sendLater(message));
  private alone: { ids: string[]; projects: string[] } | undefined;
  private record = this.session.start.only?.record;
  private running = new Map<any, TestCase>();
  private hung = new Map<string, number>();
  private errors = 0;
  private begun = false;
  private focused = false;
  /** Playwright has a selection and begins with an empty tree: its reasons follow as errors. */
  private refused = false;
  private loadErrorsRaised: Error | undefined;
  private sendErrorsOfFiles = true;

  constructor() {
    this.session.reporting = true;
    this.session.workers.onHung = (test, retry, limitMs) => {
      this.hung.set(`${test.id} ${retry}`, limitMs);
      this.session.channel.send({ type: 'hung', id: test.id, retry, limitMs });
    };
    // The process that listed has told them already.
    this.sendErrorsOfFiles = !this.session.start.only?.loadErrors;
    for (const method of ['onBegin', 'onTestBegin', 'onTestEnd', 'onStepBegin', 'onStepEnd', 'onStdOut', 'onStdErr', 'onError', 'onEnd', 'onExit'] as const)
      this.guard(method);
  }

  printsToStdio(): boolean {
    return true;
  }

  /** Playwright 1.62 and later, before the run: the tree can still be changed. */
  async preprocess({ config, suite, testRun }: any): Promise<void> {
    if (this.session.mode !== 'ask')
      return;
    this.config = config;
    this.forbidRetries(suite);
    if (config.shard)
      testRun.skipSharding();
    this.list(suite, suite.allTests(), hasFocus(suite));
    this.session.channel.send({ type: 'listed', total: this.listed.length, fatal: false, focused: hasFocus(suite) });
    this.session.listed = true;
    const select = await this.session.selection;
    if (!select) {
      // Aborted, perhaps before Playwright listened to signals. It stops waiting for us now.
      process.emit('SIGINT', 'SIGINT');
      return new Promise(() => {});
    }
    this.record = select.record;
    const chosen = this.choose(select);
    if (!chosen)
      return new Promise(() => {}); // the process is about to end
    const along = this.along(chosen);
    const broken = brokenSetup(along, this.broken());
    if (broken)
      throw new Error(broken);
    const orphans = select.all ? [] : orphanSetup(chosen, this.listed, project => along.has(project));
    if (orphans.length) {
      const alone = this.listed.filter(({ wire }) => chosen.has(wire.id)).map(({ wire }) => wire);
      // Here Playwright stops as after Ctrl+C, so that its web server and global set-up are taken down before they are
      // started once more; the other process begins in onExit.
      this.alone = { ids: alone.map(wire => wire.id), projects: [...new Set(alone.map(wire => wire.project))] };
      process.emit('SIGINT', 'SIGINT');
      return new Promise(() => {});
    }
    if (select.all)
      return;
    for (const test of suite.allTests() as TestCase[]) {
      if (!chosen.has(test.id) && !along.has(projectName(test)))
        tryTo(() => testRun.exclude(test));
    }
  }

  onBegin(config: any, suite: Suite): void {
    this.config = config;
    this.forbidRetries(suite);
    this.session.live?.setSetup(config);
    if (this.session.mode === 'list') {
      const focused = hasFocus(suite);
      this.list(suite, this.session.start.focus ? focusedTests(suite) : suite.allTests(), focused);
      return;
    }
    if (!this.session.listed && this.session.mode === 'ask') {
      // Global set-up failed, or the files could not be collected: there is no tree.
      this.sendLoadErrors();
      this.session.channel.send({ type: 'listed', total: 0, fatal: true });
      this.session.listed = true;
    } else if (!this.session.aborted && (this.chosen || this.session.mode === 'only')) {
      const chosen = this.chosen ?? new Set(this.session.start.only!.ids);
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

  onTestBegin(test: TestCase, result: any): void {
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

  onStepBegin(test: TestCase, result: any, step: any): void {
    if (!announcedSteps.has(step.category))
      return;
    this.session.channel.sendLater({
      type: 'stepBegin', id: test.id, retry: result.retry, title: stepTitle(step.title), category: step.category,
      startedAt: iso(step.startTime), depth: depthOf(step),
    });
  }

  onStepEnd(test: TestCase, result: any, step: any): void {
    this.session.channel.sendLater({
      type: 'step', id: test.id, retry: result.retry, title: stepTitle(step.title), category: step.category,
      location: wireLocation(step.location), startedAt: iso(step.startTime), durationMs: whole(step.duration),
      error: step.error && wireError(step.error), depth: depthOf(step),
    });
  }

  onStdOut(chunk: string | Buffer, test?: TestCase, result?: any): void {
    this.output.add('stdout', chunk, test, result);
  }

  onStdErr(chunk: string | Buffer, test?: TestCase, result?: any): void {
    this.output.add('stderr', chunk, test, result);
  }

  onTestEnd(test: TestCase, result: any): void {
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
      errors: (result.errors ?? []).map(wireError), attachments: this.attachments.wire([...result.attachments ?? [], ...evidence ? [evidence] : []]),
      sabotaged: this.session.workers.sabotaged.has(`${test.id} ${result.retry}`) || undefined,
      recovered: this.session.workers.recovery?.takeOut(test.id, result.retry),
      annotations: wireAnnotations(result.annotations ?? test.annotations),
    });
    this.attachments.prune(result.attachments);
  }

  /** Says in plain words what Playwright can only say in its own. Before blob and HTML: we are the first reporter. */
  private explain(error: any, test: TestCase, result: any): void {
    const message = String(error.message ?? '');
    const limitMs = this.hung.get(`${test.id} ${result.retry}`);
    let explained = explainMissingBrowser(message, this.session.browsers);
    if (limitMs !== undefined && message.includes('worker process exited unexpectedly'))
      explained = `the test was stuck: after ${limitMs} ms its process did not even answer any more and was killed. An endless loop?`;
    if (!explained)
      return;
    error.message = 'Error: ' + explained;
    error.stack = undefined;
  }

  onError(error: any): void {
    if (this.loadErrorsRaised && error?.message?.includes(this.loadErrorsRaised.message))
      return; // each of them was sent on its own
    this.errors++;
    this.session.channel.send({ type: 'error', ...wireError(error) });
  }

  async onEnd(result: any): Promise<{ status: string } | undefined> {
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
  async onExit(): Promise<void> {
    if (this.alone) {
      this.session.workers.dropSpare();
      await this.session.runAlone(this.alone.ids, this.alone.projects, this.record);
    }
    this.session.workers.dropSpare();
    if (this.session.live) {
      await dropStrangers(path.join(this.session.start.outDir, 'blob', 'report.zip')).catch(error =>
        this.session.channel.send({ type: 'error', message: `tas-runner: the blob names tests that were not run here: ${error.message}` }));
    }
    this.session.ended = true;
    this.session.channel.send({ type: 'bye' });
    await this.session.channel.drain();
  }

  /** A trial has none: what test.describe.configure asks for goes before the command line. */
  private forbidRetries(suite: Suite): void {
    if (this.session.start.trial)
      suite.allTests().forEach(test => test.retries = 0);
  }

  private startRecording(config: any): void {
    const { session } = this;
    const recording = session.recording = new Recording(config.projects, message => session.channel.send({ type: 'warning', code: 'not-recorded', message }));
    session.workers.onInit = message => recording.instruct(message);
  }

  private list(root: Suite, tests: TestCase[], focused: boolean): void {
    const { channel, browsers, start, innards } = this.session;
    this.focused = focused;
    const { config } = this;
    channel.send({
      type: 'suite', rootDir: config.rootDir, configFile: config.configFile ?? null, workers: config.workers,
      maxFailures: config.maxFailures, globalTimeoutMs: config.globalTimeout, projects: wireProjects(config, browsers),
    });
    const setup = setupProjectNames(config);
    const wires = wireTests(tests, setup);
    const units = innards && unitsOf(root, setup, start.shards!, innards);
    wires.forEach(wire => wire.unit = units?.get(wire.id));
    this.listed = wires.map((wire, index) => ({ wire, grepTitle: grepTitle(tests[index], wire) }));
    if (start.focus)
      this.listed.forEach(({ wire, grepTitle }) => wire.grepTitle = grepTitle);
    for (let i = 0; i < wires.length; i += testsPerMessage)
      channel.send({ type: 'tests', tests: wires.slice(i, i + testsPerMessage) });
    if (this.session.mode !== 'list')
      this.sendLoadErrors();
  }

  private choose(select: Select): Set<string> | undefined {
    try {
      this.everything = select.all === true;
      return this.chosen = choose(select, this.listed, this.session.start.grepTimeoutMs ?? 10_000);
    } catch (error) {
      this.session.fail(problemCode(error), (error as Error).message);
      return undefined;
    }
  }

  private broken(): string[] {
    return brokenProjects(this.session.playwright!, this.config, this.session.loadErrors);
  }

  private along(chosen: Set<string>): Set<string> {
    const own = this.listed.filter(({ wire }) => chosen.has(wire.id) && !wire.setup).map(({ wire }) => wire.project);
    return projectsAlong(wireProjects(this.config, this.session.browsers), new Set(own));
  }

  /** Selection must be exact: what Playwright is about to run is held against what was chosen. */
  private compare(suite: Suite, chosen: Set<string>): boolean {
    const setup = setupProjectNames(this.config);
    const ids: string[] = [];
    const setupIds: string[] = [];
    const surprising: string[] = [];
    const missing = new Set(chosen);
    for (const test of suite.allTests()) {
      missing.delete(test.id);
      const isSetup = setup.has(projectName(test));
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
        parts.push(`Playwright would not run these selected tests: ${someOf([...missing].map(id => titles.get(id) ?? id))}`);
      if (surprising.length)
        parts.push(`Playwright would run these tests that were not selected: ${someOf(surprising)}`);
      this.session.fail('internal', parts.join('. '));
      return false;
    }
    this.session.channel.send({ type: 'selected', ids, setupIds });
    return true;
  }

  private sendLoadErrors(): void {
    if (!this.sendErrorsOfFiles)
      return;
    this.sendErrorsOfFiles = false;
    for (const { file, error } of this.session.loadErrors) {
      const location: Location = error.location ?? { file, line: 1, column: 1 };
      this.session.channel.send({ type: 'error', ...wireError({ snippet: snippetAt(location), ...error, location }) });
    }
  }

  // The files that do load are run; the run has failed nonetheless. An error thrown by a reporter on purpose is what
  // brings that into the blob and the HTML report, which we do not write. Not thrown in onBegin: Playwright would
  // then wait for ever with handing us output and errors.
  private raiseLoadErrors(): void {
    const { loadErrors } = this.session;
    if (!loadErrors.length || this.loadErrorsRaised || !this.session.reportersSeeEachOthersErrors)
      return;
    const text = loadErrors.map(({ file, error }) => stripAnsi(error.message ?? String(error.value)) + '\n\n' + snippetAt(error.location ?? { file, line: 1, column: 1 })).join('\n\n');
    const error = new Error(`${loadErrors.length === 1 ? 'a test file does' : `${loadErrors.length} test files do`} not load; the other files were run\n\n${text}`);
    error.stack = '';
    this.loadErrorsRaised = error;
    throw error;
  }

  private guard(method: 'onBegin' | 'onTestBegin' | 'onTestEnd' | 'onStepBegin' | 'onStepEnd' | 'onStdOut' | 'onStdErr' | 'onError' | 'onEnd' | 'onExit'): void {
    const call: (...args: any[]) => any = (this as any)[method];
    const tell = (error: any) => {
      if (error === this.loadErrorsRaised)
        throw error;
      this.session.channel.send({ type: 'error', message: `tas-runner, in ${method}: ${error?.message ?? error}`, stack: error?.stack });
    };
    (this as any)[method] = (...args: any[]) => {
      if (this.alone && method !== 'onExit')
        return undefined; // another process will tell
      try {
        const result = call.apply(this, args);
        return result instanceof Promise ? result.catch(tell) : result;
      } catch (error) {
        return tell(error);
      }
    };
  }
}

function depthOf(step: any): number {
  let depth = 0;
  for (let parent = step.parent; parent; parent = parent.parent)
    depth++;
  return depth;
}

function iso(time: Date | undefined): string {
  return (time instanceof Date && !isNaN(+time) ? time : new Date()).toISOString();
}

function whole(duration: number | undefined): number {
  return Math.max(0, Math.round(duration ?? 0));
}

function tryTo(act: () => void): void {
  try {
    act();
  } catch {
    // a project that Playwright runs in full or not at all
  }
}

export default Reporter;
