// A test file that does not load makes `playwright test` refuse the whole run. Here the other files still run: the
// function that loads one file is wrapped, its errors are kept aside, shown, and make the run fail at the end.
// Nothing of the happy path changes. Where a future Playwright has no such function its own refusal stays.
import * as fs from 'fs';
import * as path from 'path';
import type { Playwright } from './playwright';

export interface LoadError {
  file: string;
  error: any;
}

/** To be called before the runner part of Playwright is loaded. */
export function keepLoadErrorsAside(playwright: Playwright, report: (loadError: LoadError) => void): void {
  const wrap = (load: any) => async (file: string, config: unknown, errors: any[] | undefined) => {
    if (!errors)
      return load(file, config, errors);
    const own: any[] = [];
    const suite = await load(file, config, own);
    for (const error of own)
      report({ file, error: { ...error, stack: withoutOwnFrames(error.stack) } });
    return suite;
  };
  const common = path.join(playwright.testDir, 'lib', 'common');
  const single = path.join(common, 'testLoader.js');
  if (fs.existsSync(single)) {
    const loader = require(single);
    if (typeof loader.loadTestFile === 'function')
      replaceExports(single, { loadTestFile: wrap(loader.loadTestFile) });
    return;
  }
  const bundle = path.join(common, 'index.js');
  const loader = fs.existsSync(bundle) ? require(bundle).testLoader : undefined;
  if (typeof loader?.loadTestFile === 'function')
    replaceExports(bundle, { testLoader: derive(loader, { loadTestFile: wrap(loader.loadTestFile) }) });
}

/** The projects that have lost a file because it does not load. */
export function brokenProjects(playwright: Playwright, config: any, loadErrors: LoadError[]): string[] {
  if (!loadErrors.length)
    return [];
  const { createFileMatcher } = require(path.join(playwright.testDir, 'lib', 'util.js'));
  return config.projects.filter((project: any) => loadErrors.some(({ file }) =>
    file.startsWith(project.testDir + path.sep) && createFileMatcher(project.testMatch)(file) && !createFileMatcher(project.testIgnore)(file),
  )).map((project: any) => project.name);
}

function withoutOwnFrames(stack: string | undefined): string | undefined {
  return stack?.split('\n').filter(line => !line.includes(__filename)).join('\n');
}

// The exports are getters that cannot be set: whoever requires the module from now on gets an object before them.
function replaceExports(file: string, changes: Record<string, unknown>): void {
  const cached = require.cache[require.resolve(file)]!;
  cached.exports = derive(cached.exports, changes);
}

function derive(from: any, changes: Record<string, unknown>): any {
  const properties = Object.getOwnPropertyDescriptors(from);
  for (const [key, value] of Object.entries(changes))
    properties[key] = { value, enumerable: true, configurable: true, writable: true };
  return Object.create(Object.getPrototypeOf(from), properties);
}
