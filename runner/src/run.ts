// Starts Playwright's own command line in this process, with our reporter in place of the repository's.
import * as fs from 'fs';
import * as path from 'path';
import { findInnards } from './innards';
import { Live } from './live';
import { keepLoadErrorsAside } from './loading';
import type { Playwright } from './playwright';
import type { Trial } from './protocol';
import type { Session } from './session';

/** Returns at once; the run goes on until Playwright ends the process. */
export function runPlaywright(session: Session, playwright: Playwright): void {
  const { start, mode } = session;
  const results = path.join(start.outDir, 'results');
  fs.mkdirSync(results, { recursive: true });
  Object.assign(process.env, session.browsers.environment(), reportEnvironment(start.outDir));
  unsetReportVariables(process.env);

  if (mode !== 'list')
    session.workers.watchForks(playwright, start.trial?.sabotage);
  session.browsers.link(playwright);
  keepLoadErrorsAside(playwright, loadError => session.loadErrors.push(loadError));
  if (start.shards) {
    session.innards = findInnards(playwright);
    if (mode !== 'list') {
      session.live = new Live(session, session.innards);
      session.live.install();
    }
  }
  // Loaded here, so that Playwright finds it loaded and does not put it through its own compiler.
  const reporter = require.resolve('./reporter.js');
  require(reporter);

  const args = ['test', `--reporter=${mode === 'list' ? reporter : `${reporter},blob${start.shards ? '' : ',html'}`}`, `--output=${results}`, '--pass-with-no-tests'];
  if (start.config)
    args.push(`--config=${start.config}`);
  if (start.workers)
    args.push(`--workers=${start.workers}`);
  if (start.trial)
    args.push(...trialOptions(start.trial));
  if (mode === 'list')
    args.push('--list');
  if (mode === 'only')
    args.push(...selectByIds(start.only!, results));
  process.argv = [process.argv[0], playwright.cli, ...args];
  require(playwright.cli);
}

/** How Playwright is asked to try something out. The reporter sees to retries that a file asks for itself. */
export function trialOptions(trial: Trial): string[] {
  const repeat = Math.max(trial.repeat ?? 1, trial.sabotage?.length ?? 0, 1);
  return ['--retries=0', `--repeat-each=${repeat}`, ...trial.trace ? ['--trace=on'] : []];
}

/** Where Playwright's own reporters write, and how. */
export function reportEnvironment(outDir: string): Record<string, string> {
  return {
    PLAYWRIGHT_BLOB_OUTPUT_FILE: path.join(outDir, 'blob', 'report.zip'),
    PLAYWRIGHT_HTML_OUTPUT_DIR: path.join(outDir, 'html'),
    PLAYWRIGHT_HTML_OPEN: 'never',
    PLAYWRIGHT_HTML_DO_NOT_INLINE_ASSETS: '1',
  };
}

/** What the machine may have set that would change reports or runs. */
export function unsetReportVariables(env: NodeJS.ProcessEnv): void {
  for (const name of ['PW_TEST_REPORTER', 'PWTEST_WATCH', 'PWDEBUG', 'PLAYWRIGHT_HTML_REPORT', 'PLAYWRIGHT_BLOB_OUTPUT_DIR', 'PLAYWRIGHT_BLOB_OUTPUT_NAME'])
    delete env[name];
}

// The one way of every Playwright since 1.50 to run exactly the tests with given IDs: the file that a failed run
// leaves for --last-failed. Repeated and parametrised tests have IDs of their own, so it is exact for them too.
function selectByIds(only: { ids: string[]; projects?: string[] }, results: string): string[] {
  const file = path.join(results, '.last-run.json');
  // An empty list would mean "no filter" to some versions.
  const failedTests = only.ids.length ? only.ids : ['nothing is selected'];
  fs.writeFileSync(file, JSON.stringify({ status: 'failed', failedTests }));
  process.env.PLAYWRIGHT_LAST_RUN_OUTPUT_FILE = file;
  return ['--last-failed', ...(only.projects ?? []).map(name => `--project=${name}`)];
}
