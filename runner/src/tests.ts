// Turns Playwright's tree of suites into the `suite` and `tests` messages.
import { BodyHashes } from './bodyhash';
import type { Browsers } from './browsers';
import type { WireProject, WireTest } from './protocol';
import { relativeFile, stripAnsi, wireLocation } from './text';

/** What is used of Playwright's reporter API. Fields with an underscore are not public: they may be missing. */
export interface Suite {
  type: 'root' | 'project' | 'file' | 'describe';
  title: string;
  parent?: Suite;
  location?: { file: string; line: number; column: number };
  suites: Suite[];
  tests: TestCase[];
  allTests(): TestCase[];
  project(): any;
  _parallelMode?: string;
  _only?: boolean;
}

export interface TestCase {
  id: string;
  title: string;
  parent: Suite;
  location: { file: string; line: number; column: number };
  tags?: string[];
  annotations: { type: string; description?: string }[];
  expectedStatus: string;
  timeout: number;
  retries: number;
  repeatEachIndex: number;
  results: any[];
  titlePath(): string[];
  _grepTitle?(): string;
  _grepTitleWithTags?(): string;
  _only?: boolean;
}

export function setupProjectNames(config: any): Set<string> {
  const names = new Set<string>();
  for (const project of config.projects) {
    for (const dependency of project.dependencies ?? [])
      names.add(dependency);
    if (project.teardown)
      names.add(project.teardown);
  }
  return names;
}

export function projectName(test: TestCase): string {
  return ancestor(test, 'project')?.title ?? '';
}

function ancestor(test: TestCase, type: Suite['type']): Suite | undefined {
  let suite: Suite | undefined = test.parent;
  while (suite && suite.type !== type)
    suite = suite.parent;
  return suite;
}

export function wireProjects(config: any, browsers: Browsers): WireProject[] {
  const setup = setupProjectNames(config);
  return config.projects.map((project: any) => {
    const use = project.use ?? {};
    const browserName = use.browserName ?? use.defaultBrowserType ?? 'chromium';
    const channel = use.channel ?? use.launchOptions?.channel;
    return {
      name: project.name,
      dependencies: project.dependencies ?? [],
      teardown: project.teardown ?? null,
      browserName,
      channel,
      browserAvailable: browsers.available(browserName, channel, use.launchOptions?.executablePath),
      testDir: relativeFile(project.testDir),
      setup: setup.has(project.name),
    };
  });
}

export function wireTests(tests: TestCase[], setup: Set<string>): WireTest[] {
  const hashes = new BodyHashes();
  return tests.map(test => {
    const file = ancestor(test, 'file')?.location?.file ?? test.location.file;
    const elsewhere = test.location.file !== file;
    // A call in a helper has no line of its own in the test file: the nearest describe is where a reader begins.
    const place = elsewhere ? placeInFile(test, file) : test.location;
    const project = projectName(test);
    return {
      id: test.id,
      title: test.title,
      titlePath: titlesOf(test),
      file: relativeFile(file),
      line: place.line,
      column: place.column,
      location: elsewhere ? wireLocation(test.location) : undefined,
      project,
      tags: test.tags ?? [],
      annotations: wireAnnotations(test.annotations),
      expectedStatus: test.expectedStatus,
      timeoutMs: test.timeout,
      retries: test.retries,
      repeatEachIndex: test.repeatEachIndex,
      ...modeOf(test, file),
      setup: setup.has(project),
      bodyHash: hashes.at(test.location),
    };
  });
}

export function wireAnnotations(annotations: { type: string; description?: string }[] | undefined) {
  return (annotations ?? []).map(({ type, description }) => ({ type, description: description === undefined ? undefined : stripAnsi(String(description)) }));
}

/** The titles of the describes and the test: Playwright's path without root, project and file. */
function titlesOf(test: TestCase): string[] {
  const titles = [test.title];
  for (let suite: Suite | undefined = test.parent; suite && suite.type === 'describe'; suite = suite.parent) {
    if (suite.title)
      titles.unshift(suite.title);
  }
  return titles;
}

function placeInFile(test: TestCase, file: string): { line: number; column: number } {
  for (let suite: Suite | undefined = test.parent; suite; suite = suite.parent) {
    if (suite.location?.file === file && suite.location.line > 0)
      return suite.location;
  }
  return { line: 1, column: 1 };
}

function modeOf(test: TestCase, file: string): { mode: string; serialGroup?: string } {
  let mode: string | undefined;
  let serial: Suite | undefined;
  for (let suite: Suite | undefined = test.parent; suite; suite = suite.parent) {
    const own = suite._parallelMode;
    if (own && own !== 'none')
      mode ??= own;
    if (own === 'serial')
      serial = suite;
  }
  if (!serial)
    return { mode: mode ?? 'default' };
  const titles = [];
  for (let suite: Suite | undefined = serial; suite && suite.type === 'describe'; suite = suite.parent)
    titles.unshift(suite.title);
  // Two describes without a title differ by their place.
  const place = serial.type === 'describe' ? `${serial.location?.line}:${serial.location?.column}` : '';
  return { mode: mode!, serialGroup: JSON.stringify([projectName(test), relativeFile(file), ...titles, place, test.repeatEachIndex]) };
}

/** The text that Playwright's own --grep matches. */
export function grepTitle(test: TestCase, wire: WireTest): string {
  return test._grepTitleWithTags?.() ?? test._grepTitle?.() ?? [wire.project, ...test.titlePath().slice(2), ...wire.tags].join(' ');
}

/** What `test.only` leaves of a suite, as Playwright's own filter does; all of it where nothing is focused. */
export function focusedTests(root: Suite): TestCase[] {
  const visit = (suite: Suite): TestCase[] | undefined => {
    const kept: TestCase[] = [];
    let found = false;
    for (const child of suite.suites) {
      const inner = visit(child);
      if (inner || child._only) {
        found = true;
        kept.push(...(inner ?? child.allTests()));
      }
    }
    const tests = suite.tests.filter(test => test._only);
    if (tests.length) {
      found = true;
      kept.push(...tests);
    }
    return found ? kept : undefined;
  };
  return visit(root) ?? root.allTests();
}

export function hasFocus(root: Suite): boolean {
  return !!root._only || root.suites.some(hasFocus) || root.tests.some(test => test._only);
}
