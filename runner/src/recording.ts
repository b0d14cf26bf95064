// Records a trace of every test as evidence of how it passes, though the selection that asks for it comes when the config
// was loaded long ago: each worker process loads the config again, with what the command line adds to it, and that is
// added to in the message which tells the process what it is for. What a repository keeps itself stays as it is.
import * as fs from 'fs';
import type { Suite, TestCase } from './tests';

interface Trace {
  mode: string;
  [option: string]: unknown;
}

/** Pictures and sources cost most and prove nothing. */
const recorded: Trace = { mode: 'on', screenshots: false, sources: false, snapshots: true };

export class Recording {
  private own = new Map<string, Trace>();
  private retried = new Set<string>();
  private told = false;
  private warned = false;

  constructor(projects: any[], private warn: (message: string) => void) {
    for (const project of projects)
      this.own.set(project.__projectId ?? project.name, traceOf(project.use?.trace));
  }

  /** Playwright's first message to a worker process, with a trace of every test asked for. */
  instruct(message: any): any {
    const { params } = message;
    const overrides = params?.runnerParams?.config?.configCLIOverrides;
    const own = this.own.get(params?.runnerParams?.projectId);
    this.told = true;
    if (!overrides || typeof overrides !== 'object' || !own) {
      this.miss();
      return message;
    }
    if (own.mode === 'on')
      return message;
    // What Playwright would capture anyway keeps its pictures, and so does a retry: it gets a new process.
    const full = own.mode.startsWith('retain-') || isOnRetry(own.mode) && this.retried.has(params.runnerParams.projectId);
    const trace = full ? { ...own, mode: 'on', snapshots: true } : recorded;
    const config = { ...params.runnerParams.config, configCLIOverrides: { ...overrides, use: { ...overrides.use, trace } } };
    return { ...message, params: { ...params, runnerParams: { ...params.runnerParams, config } } };
  }

  /** Tests were run and no process was told what it is for in a way that is known here. */
  miss(): void {
    if (!this.warned)
      this.warn('this version of Playwright does not let tas-runner record traces: the tests ran without');
    this.warned = true;
  }

  ended(): void {
    if (!this.told)
      this.miss();
  }

  willRetry(test: TestCase): void {
    this.retried.add(projectOf(test));
  }

  /**
   * What is there only because it was recorded is taken out of a result, before the reporters after this one see it.
   * Answered is the trace of a test that passed: evidence.
   */
  takeOut(test: TestCase, result: any, failed: boolean): any {
    const at = (result.attachments ?? []).findLastIndex((a: any) => a.name === 'trace' && a.path && a.contentType === 'application/zip');
    if (at < 0 || failed || result.status === 'interrupted' || ownWay(test) || keeps(this.own.get(projectOf(test))?.mode ?? 'on', result.retry))
      return undefined;
    const [trace] = result.attachments.splice(at, 1);
    if (result.status === 'passed' && test.expectedStatus === 'passed')
      return { ...trace, name: 'evidence' };
    fs.rmSync(trace.path, { force: true });
    return undefined;
  }
}

/** Playwright's own reading of the option. */
function traceOf(option: any): Trace {
  const own = typeof option === 'string' ? { mode: option } : { ...option, mode: option?.mode || 'off' };
  return own.mode === 'retry-with-trace' ? { ...own, mode: 'on-first-retry' } : own;
}

function isOnRetry(mode: string): boolean {
  return mode === 'on-first-retry' || mode === 'on-all-retries';
}

/** Whether Playwright keeps the trace of a try that did not fail. */
function keeps(mode: string, retry: number): boolean {
  return mode === 'on' || mode === 'on-first-retry' && retry === 1 || (mode === 'on-all-retries' || mode === 'retain-on-failure-and-retries') && retry > 0;
}

/** A file or a fixture that has its own idea of traces goes before what a process is told. */
function ownWay(test: any): boolean {
  const has = ({ fixtures, location }: any) => fixtures && 'trace' in fixtures && !/[\\/]node_modules[\\/](@playwright[\\/]test|playwright)[\\/]/.test(String(location?.file ?? ''));
  for (let suite: any = test.parent as Suite; suite; suite = suite.parent) {
    if ((suite._use ?? []).some(has))
      return true;
  }
  return (test._testType?.fixtures ?? []).some(has);
}

function projectOf(test: TestCase): string {
  const project = test.parent.project();
  return project?.__projectId ?? project?.name ?? '';
}
