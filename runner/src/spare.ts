// Starts Playwright's first worker process while the main process still loads config and tests: the two take about as
// long, so on two cores the first test begins earlier. Playwright gets the spare one in place of its first fork, if
// that fork would have made the very same process; a config or a global set-up that changes the environment wins.
import type * as childProcess from 'child_process';
import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';
import type { Playwright } from './playwright';

type Fork = (entry: string, options: any) => childProcess.ChildProcess;

export class Spare {
  private child: childProcess.ChildProcess | undefined;
  private cwd = process.cwd();
  private env: Record<string, string | undefined> = {};

  constructor(private entry: string, fork: Fork) {
    // What Playwright adds for a worker.
    this.env = { ...process.env, PLAYWRIGHT_TEST: '1', FORCE_COLOR: '1', DEBUG_COLORS: process.env.DEBUG_COLORS ?? '1' };
    this.child = fork(entry, { detached: false, env: this.env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.child.once('exit', () => this.child = undefined);
    this.child.once('error', () => this.child = undefined);
  }

  /** The process that fork would make, or undefined. Messages that it sent meanwhile wait for the first listener. */
  take(entry: string, options: any): childProcess.ChildProcess | undefined {
    if (entry !== this.entry || !this.child)
      return undefined;
    if (!this.child.connected || options?.execArgv || String(options?.stdio) !== 'ignore,pipe,pipe,ipc' || process.cwd() !== this.cwd || !sameEnv(this.env, options.env)) {
      this.drop();
      return undefined;
    }
    const child = this.child;
    this.child = undefined;
    return child;
  }

  drop(): void {
    this.child?.kill('SIGKILL');
    this.child = undefined;
  }
}

/** None where a second process would only be in the way, or where Playwright's workers begin in another file. */
export function forkSpare(playwright: Playwright, fork: Fork): Spare | undefined {
  const entry = path.join(playwright.testDir, 'lib', 'worker', 'workerProcessEntry.js');
  return os.availableParallelism() > 1 && fs.existsSync(entry) ? new Spare(entry, fork) : undefined;
}

function sameEnv(one: Record<string, string | undefined>, other: Record<string, string | undefined>): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other ?? {})]);
  // Set by the compiler inside Playwright, when it had to compile something; mutes a warning.
  names.delete('BROWSERSLIST_IGNORE_OLD_DATA');
  return [...names].every(name => one[name] === other[name]);
}
