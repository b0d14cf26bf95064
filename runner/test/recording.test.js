// Evidence: traces of tests that pass, asked for when the config was loaded long ago.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { execFileSync } = require('child_process');
const fs = require('fs');
const { makeRepository, run, runShared, site, versions, newest } = require('./attempt');

const entries = file => String(execFileSync('python3', ['-c', 'import sys,zipfile; print("\\n".join(zipfile.ZipFile(sys.argv[1]).namelist()))', file], { maxBuffer: 1 << 26 })).trim().split('\n');
const pictures = file => entries(file).filter(name => /\.jpe?g$/.test(name)).length;

const files = {
  'playwright.config.ts': `export default { retries: 1, projects: [
  { name: 'off', testMatch: /off/ }, { name: 'on', testMatch: /on\\.spec/, use: { trace: 'on' } },
  { name: 'failure', testMatch: /failure/, use: { trace: 'retain-on-failure' } }, { name: 'retry', testMatch: /retry/, use: { trace: { mode: 'on-first-retry' } } },
] };`,
  'off.spec.ts': `import { test, expect } from '@playwright/test';
test('passes', async ({ page }) => { await page.goto(process.env.SITE!); await page.getByRole('button').click(); await expect(page.getByText('Sold')).toBeVisible(); });
test('fails', async ({ page }) => { await page.goto(process.env.SITE!); expect(1).toBe(2); });
test('flaky', async ({ page }, info) => { await page.goto(process.env.SITE!); expect(info.retry).toBe(1); });
test.fail('fails as it should', async ({ page }) => { await page.goto(process.env.SITE!); expect(1).toBe(2); });
test.skip('skipped', () => {});
test('attaches', async ({ page }, info) => { await page.goto(process.env.SITE!); await info.attach('trace', { body: 'mine', contentType: 'text/plain' }); await info.attach('notes', { body: 'kept' }); });`,
  'own-off.spec.ts': `import { test } from '@playwright/test'; test.use({ trace: 'on' }); test('has its own way', async ({ page }) => { await page.goto(process.env.SITE!); });`,
  'on.spec.ts': `import { test } from '@playwright/test'; test('keeps', async ({ page }) => { await page.goto(process.env.SITE!); });`,
  'failure.spec.ts': `import { test } from '@playwright/test'; test('would not keep', async ({ page }) => { await page.goto(process.env.SITE!); });`,
  'retry.spec.ts': `import { test, expect } from '@playwright/test'; test('again', async ({ page }, info) => { await page.goto(process.env.SITE!); expect(info.retry).toBe(1); });`,
};

const tracesOf = attempt => {
  const names = new Map(attempt.tests.map(test => [test.id, test.title]));
  return attempt.all('testEnd').flatMap(end => end.attachments.filter(a => a.path?.endsWith('trace.zip')).map(a => ({ what: `${names.get(end.id)} ${end.retry}: ${end.status} ${a.name}`, path: a.path })));
};

for (const version of versions) {
  test(`${version}: what passes leaves evidence, what is kept anyway stays as it is`, async () => {
    const { url, close } = await site();
    try {
      const attempt = await run(makeRepository(files, version), { all: true, record: true }, {}, { SITE: url });
      const traces = tracesOf(attempt);
      assert.deepEqual(traces.map(trace => trace.what).sort(), [
        'again 0: failed trace', 'again 1: passed trace', 'attaches 0: passed evidence', 'fails 0: failed trace', 'fails 1: failed trace', 'flaky 0: failed trace', 'flaky 1: passed evidence',
        'has its own way 0: passed trace', 'keeps 0: passed trace', 'passes 0: passed evidence', 'would not keep 0: passed evidence',
      ]);
      const file = what => traces.find(trace => trace.what === what).path;
      assert.equal(pictures(file('passes 0: passed evidence')), 0);
      assert.ok(!entries(file('passes 0: passed evidence')).some(name => name.includes('src@')), 'no sources');
      assert.ok(pictures(file('keeps 0: passed trace')) > 0);
      assert.ok(pictures(file('has its own way 0: passed trace')) > 0);
      assert.ok(pictures(file('again 1: passed trace')) > 0, 'a retry keeps the pictures that its config asks for');
      const trace = execFileSync('python3', ['-c', 'import sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); sys.stdout.write("".join(z.read(n).decode() for n in z.namelist() if n.endswith(".trace")))', file('passes 0: passed evidence')], { maxBuffer: 1 << 26 });
      assert.match(String(trace), /frame-snapshot/);
      assert.ok(attempt.all('testEnd').some(end => end.attachments.some(a => a.name === 'trace' && a.body)), 'an attachment that is only called so stays');
      assert.deepEqual(attempt.all('warning'), []);
      // Who reads the report sees what the repository's own config keeps.
      const blob = String(execFileSync('python3', ['-c', 'import sys,zipfile; sys.stdout.write(zipfile.ZipFile(sys.argv[1]).read("report.jsonl").decode())', attempt.report('blob/report.zip')], { maxBuffer: 1 << 26 }));
      const kept = traces.filter(trace => / trace$/.test(trace.what)).length;
      assert.equal(blob.split('"application/zip"').length - 1, kept);
      assert.equal(fs.readdirSync(attempt.report('html/data')).filter(name => name.endsWith('.zip')).length, kept);
    } finally {
      close();
    }
  });
}

test('each process of a shared run records, and one that runs a set-up test alone', async () => {
  const { url, close } = await site();
  try {
    const shared = await runShared(makeRepository({ 'on.spec.ts': files['on.spec.ts'] }), { select: { all: true, record: true }, env: { SITE: url } });
    assert.deepEqual(shared.flatMap(tracesOf).map(trace => trace.what), ['keeps 0: passed evidence']);
    const alone = await run(makeRepository({
      'playwright.config.ts': `export default { projects: [{ name: 'setup', testMatch: /setup/ }, { name: 'shop', dependencies: ['setup'] }] };`,
      'a.setup.ts': `import { test } from '@playwright/test'; test('logs in', async ({ page }) => { await page.goto(process.env.SITE!); });`, 'on.spec.ts': files['on.spec.ts'],
    }), attempt => ({ include: [attempt.id('setup', 'logs in')], record: true }), {}, { SITE: url });
    assert.deepEqual(tracesOf(alone).map(trace => trace.what), ['logs in 0: passed evidence']);
  } finally {
    close();
  }
});

test('a Playwright that cannot be told runs without, and says so once', async () => {
  const { Recording } = require('../dist/recording');
  const said = [];
  const recording = new Recording([{ name: 'shop', __projectId: 'shop', use: {} }], message => said.push(message));
  const message = { method: '__init__', params: { runnerParams: { projectId: 'shop', config: {} } } };
  assert.equal(recording.instruct(message), message);
  recording.instruct(message);
  recording.ended();
  assert.equal(said.length, 1);
  const silent = new Recording([], message => said.push(message));
  silent.ended();
  assert.equal(said.length, 2);
});
