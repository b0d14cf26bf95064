// The two parts of Playwright's runner that live dispatch needs and that it does not hand out: the class that hands
// groups of tests to worker processes, and the function that makes the groups. Before 1.6x they are modules of their
// own; now they are inside of one bundle, which is compiled with a line more that exports them.
import * as fs from 'fs';
import Module = require('module');
import * as path from 'path';
import type { Playwright } from './playwright';
import type { Suite, TestCase } from './tests';

/** Playwright's TestGroup: what one worker process runs in one go. */
export interface Group {
  workerHash: string;
  requireFile: string;
  repeatEachIndex: number;
  projectId: string;
  tests: (TestCase & { _locks?: string[] })[];
  locks?: string[];
}

export interface Innards {
  Dispatcher: { prototype: any };
  createTestGroups(projectSuite: Suite, expectedParallelism: number): Group[];
}

export class NotLive extends Error {}

/** To be called before the runner part of Playwright is loaded, and after all other changes to what it loads. */
export function findInnards(playwright: Playwright): Innards {
  let found: Partial<Innards>;
  try {
    found = load(path.join(playwright.testDir, 'lib', 'runner'));
  } catch (error) {
    throw notLive(playwright, (error as Error).message);
  }
  const { Dispatcher, createTestGroups } = found;
  if (typeof Dispatcher !== 'function' || typeof createTestGroups !== 'function')
    throw notLive(playwright, `it has no ${typeof Dispatcher === 'function' ? 'createTestGroups' : 'Dispatcher'}`);
  return { Dispatcher: Dispatcher as any, createTestGroups };
}

export function notLive(playwright: Playwright | undefined, why: string): NotLive {
  return new NotLive(`tas-runner cannot split a run with Playwright ${playwright?.version}: ${why}. Run it without shards, or with a newer tas-runner`);
}

function load(folder: string): Partial<Innards> {
  const single = path.join(folder, 'dispatcher.js');
  if (fs.existsSync(single))
    return { Dispatcher: require(single).Dispatcher, createTestGroups: require(path.join(folder, 'testGroups.js')).createTestGroups };
  const bundle = require.resolve(path.join(folder, 'index.js'));
  if (require.cache[bundle])
    throw new Error('it is loaded already');
  const name = 'tasRunnerInnards';
  const part = (what: string) => `${what}: typeof ${what} === 'function' ? ${what} : undefined`;
  const prototype = (Module as any).prototype;
  const compile = prototype._compile;
  prototype._compile = function(content: string, filename: string, ...rest: unknown[]) {
    if (filename !== bundle)
      return compile.call(this, content, filename, ...rest);
    prototype._compile = compile;
    return compile.call(this, `${content}\n;module.exports.${name} = { ${part('Dispatcher')}, ${part('createTestGroups')} };\n`, filename, ...rest);
  };
  try {
    return require(bundle)[name] ?? {};
  } finally {
    prototype._compile = compile;
  }
}
