// What the runner and its hook in Playwright's worker processes (src/sabotage.ts) say to each other.
import * as childProcess from 'child_process';
import * as path from 'path';
import type { Playwright } from './playwright';
import type { Sabotage } from './protocol';

/** Of the environment of a worker process: its Instructions. */
export const variable = 'TAS_RUNNER_SABOTAGE';
/** The method of the message by which a process says that it has done its sabotage to a try. */
export const doneMessage = '__tas_sabotaged__';

export interface Instructions {
  sabotage: Sabotage[];
  testDir: string;
  coreDir: string;
}

/** Playwright's own processes get a hook that does harm; those that a config or a web server forks do not. */
export function forkSaboteurs(playwright: Playwright, sabotage: Sabotage[], fork: any): any {
  const instructions: Instructions = { sabotage, testDir: playwright.testDir, coreDir: playwright.coreDir };
  return (entry: string, options: any, ...rest: any[]) => {
    if (typeof entry !== 'string' || !entry.startsWith(playwright.testDir + path.sep) || !options?.env)
      return fork.call(childProcess, entry, options, ...rest);
    return fork.call(childProcess, entry, {
      ...options, execArgv: [...options.execArgv ?? process.execArgv, '--require', require.resolve('./sabotage.js')],
      env: { ...options.env, [variable]: JSON.stringify(instructions) },
    }, ...rest);
  };
}
