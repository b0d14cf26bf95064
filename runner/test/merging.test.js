// The merge as a process: stopped, failing without saying so, in another folder, and with what a browser recorded.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const { Attempt, makeRepository, run, runShared, site, versions } = require('./attempt');
const { merge, readHtml } = require('./reports');

const repository = () => makeRepository({ 'a.spec.ts': `import { test } from '@playwright/test'; test('works', () => {});` });

/** Code that runs before Playwright in the process that merges, and only there. */
function inMerge(dir, code) {
  const file = path.join(dir, 'before.js');
  fs.writeFileSync(file, `if (process.argv.includes('merge-reports')) { ${code} }`);
  return { NODE_OPTIONS: `--require=${file}` };
}

test('abort and a lost socket end a merge, also one that hangs', async () => {
  const dir = repository();
  const blob = (await run(dir)).report('blob/report.zip');
  const begun = path.join(dir, 'begun');
  const env = inMerge(dir, `require('fs').writeFileSync(${JSON.stringify(begun)}, String(process.pid)); for (;;) ;`);
  for (const stop of ['abort', 'lost']) {
    fs.rmSync(begun, { force: true });
    const attempt = new Attempt(dir, { merge: { blobs: [blob] } }, env);
    while (!fs.existsSync(begun) || !fs.readFileSync(begun, 'utf8'))
      await new Promise(done => setTimeout(done, 20));
    if (stop === 'abort') {
      attempt.send({ type: 'abort' });
      assert.deepEqual(await attempt.wait('failed'), { type: 'failed', code: 'merge', message: 'aborted' });
    } else {
      attempt.socket.destroy();
    }
    assert.equal(await attempt.exit, 1);
    assert.throws(() => process.kill(Number(fs.readFileSync(begun, 'utf8')), 0), { code: 'ESRCH' });
    assert.deepEqual(attempt.all('merged'), []);
    assert.ok(!fs.existsSync(attempt.report('merge')));
  }
});

test('a merge that is stopped before Playwright begins does not start it', async () => {
  const dir = repository();
  const blob = (await run(dir)).report('blob/report.zip');
  const begun = path.join(dir, 'begun');
  const attempt = new Attempt(dir, { merge: { blobs: [blob] } }, inMerge(dir, `require('fs').writeFileSync(${JSON.stringify(begun)}, '');`));
  attempt.send({ type: 'abort' });
  assert.equal((await attempt.wait('failed')).message, 'aborted');
  await attempt.exit;
  assert.ok(!fs.existsSync(begun));
});

test('a merge that writes no page has failed, though it says it went well and an older page lies there', async () => {
  const dir = repository();
  const blob = (await run(dir)).report('blob/report.zip');
  const attempt = new Attempt(dir, { merge: { blobs: [blob] } }, inMerge(dir, 'process.exit(0);'));
  fs.mkdirSync(attempt.report('html'));
  fs.writeFileSync(attempt.report('html/index.html'), 'old');
  const failed = await attempt.wait('failed');
  assert.equal(failed.code, 'merge');
  assert.match(failed.message, /wrote no report/);
  assert.notEqual(await attempt.exit, 0);
});

test('a merge that needs more memory than it may have says so', async () => {
  const dir = repository();
  const blob = (await run(dir)).report('blob/report.zip');
  const attempt = await merge(dir, [blob], { memoryMb: 64, env: inMerge(dir, 'const all = []; for (;;) all.push(new Array(1000).fill({}));') });
  assert.match((await attempt.wait('failed')).message, /needs more than 64 MB of memory/);
});

test('blobs of different folders, the first of a process that ran nothing', async () => {
  const files = {
    'playwright.config.ts': `export default { testDir: 'e2e' };`,
    'e2e/a.spec.ts': `import { test } from '@playwright/test';\ntest('fails', () => {\n  throw new Error('no such shop'); // here\n});`,
    'e2e/b.spec.ts': `import { test } from '@playwright/test'; test('works', () => {});`,
  };
  const idle = new Attempt(makeRepository(files), { shards: 2 });
  idle.on(({ type }) => type === 'offer' && idle.close());
  await idle.select();
  assert.equal(await idle.exit, 0);
  const dirs = ['fails', 'works'].map(() => makeRepository(files));
  const others = await Promise.all(['fails', 'works'].map((title, index) => run(dirs[index], attempt => ({ include: [attempt.id(title)] }))));
  const here = makeRepository(files);
  dirs.forEach(dir => fs.rmSync(dir, { recursive: true }));
  const attempt = await merge(here, [idle, ...others].map(attempt => attempt.report('blob/report.zip')));
  assert.deepEqual(await attempt.wait('merged'), { type: 'merged', total: 2, blobs: 3, skipped: [] });
  const { tests } = readHtml(attempt);
  assert.deepEqual([...tests.keys()].sort(), ['a.spec.ts > fails', 'b.spec.ts > works']);
  // The page shows lines of the source, which lies here alone.
  assert.match(tests.get('a.spec.ts > fails')[0].results[0].errors[0].codeframe, /> 3 \|.*no such shop.*here/);
});

test('the trace of a real browser is in the merged report', async t => {
  const shop = await site();
  t.after(shop.close);
  for (const version of [versions[0], versions.at(-1)]) {
    const dir = makeRepository({
      'playwright.config.ts': `export default { use: { trace: 'on' } };`,
      'a.spec.ts': `import { test, expect } from '@playwright/test';
for (const n of [1, 2]) test('buys ' + n, async ({ page }) => { await page.goto('${shop.url}/' + n); await page.getByRole('button').click(); await expect(page.getByRole('button')).toHaveText('Sold'); });`,
    }, version);
    const attempts = await runShared(dir, { start: { workers: 1 }, take: units => units });
    assert.deepEqual(Object.assign({}, ...attempts.map(attempt => attempt.ran())), { 'buys 1': 'passed', 'buys 2': 'passed' });
    const merged = await merge(dir, attempts.map(attempt => attempt.report('blob/report.zip')));
    assert.deepEqual(merged.all('error'), []);
    const { tests } = readHtml(merged);
    for (const n of [1, 2]) {
      const trace = tests.get(`a.spec.ts > buys ${n}`)[0].results[0].attachments.find(({ name }) => name === 'trace');
      const names = String(execFileSync('python3', ['-m', 'zipfile', '-l', merged.report(path.join('html', trace.path))]));
      assert.match(names, /test\.trace/);
      assert.match(names, /\.network/);
    }
    assert.ok(fs.existsSync(merged.report('html/trace/index.html')), 'the viewer lies beside it');
  }
});
