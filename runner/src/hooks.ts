// Code of ours in Playwright's worker processes: how it is brought there, and how it gets hold of Playwright's client.
// Only Playwright's own processes get it; those that a config, a web server or a test forks do not.
import * as childProcess from 'child_process';
import Module = require('module');
import * as path from 'path';
import type { Playwright } from './playwright';

/** Of the environment of a worker process: what its hook is to do. */
const variable = 'TAS_RUNNER_HOOK';

/** Where the Playwright is that is hooked into. */
export interface Place {
  testDir: string;
  coreDir: string;
}

/** A fork that loads a module of this folder before everything else, with instructions that it reads by instructed. */
export function forkHooked(playwright: Playwright, hook: string, instructions: object, fork: any): any {
  const text = JSON.stringify({ ...instructions, testDir: playwright.testDir, coreDir: playwright.coreDir });
  return (entry: string, options: any, ...rest: any[]) => {
    if (typeof entry !== 'string' || !entry.startsWith(playwright.testDir + path.sep) || !options?.env)
      return fork.call(childProcess, entry, options, ...rest);
    return fork.call(childProcess, entry, {
      ...options, execArgv: [...options.execArgv ?? process.execArgv, '--require', require.resolve(hook)],
      env: { ...options.env, [variable]: text },
    }, ...rest);
  };
}

/** The instructions of the hook that this file is, once, and for this process only: none that the tests start. */
export function instructed<T extends Place>(file: string): T | undefined {
  const text = process.env[variable];
  if (!text)
    return undefined;
  delete process.env[variable];
  const at = process.execArgv.indexOf(file);
  if (at > 0)
    process.execArgv.splice(at - 1, 2);
  return JSON.parse(text);
}

/** Calls back with the client's connection when Playwright is loaded, before anything is done with it. */
export function whenLoaded({ coreDir }: Place, install: (connection: any) => void): void {
  const core = path.join(coreDir, 'index.js');
  const load = (Module as any)._load;
  (Module as any)._load = function(request: string, parent: unknown, ...rest: unknown[]) {
    const loaded = load.call(this, request, parent, ...rest);
    if (request.endsWith('playwright-core') || request === core) {
      if (loaded?._connection) {
        (Module as any)._load = load;
        install(loaded._connection);
      }
    }
    return loaded;
  };
}
