// Several processes share a run: what is granted runs, once, and nothing else; and their blobs become one report.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('fs');
const path = require('path');
const { Attempt, makeRepository, newest, runShared, versions } = require('./attempt');
const { readHtml } = require('./reports');

const config = `export default { retries: 1, projects: [
  { name: 'setup', testMatch: /setup\\.ts/, teardown: 'down' }, { name: 'down', testMatch: /teardown/ },
  { name: 'shop', dependencies: ['setup'], testMatch: /spec/ }, { name: 'plain', testMatch: /spec/, fullyParallel: true }] };`;
const files = {
  'playwright.config.ts': config,
  'a.setup.ts': `import { test } from '@playwright/test'; test('in', () => {});`,
  'a.teardown.ts': `import { test } from '@playwright/test'; test('out', () => {});`,
  'a.spec.ts': `import { test, expect } from '@playwright/test'; test('one', () => {});
test('flaky', ({}, info) => { expect(info.retry).toBe(1); });
test('dies', ({}, info) => { if (!info.retry) process.exit(3); });
test.describe(() => { test.describe.configure({ mode: 'serial' }); test('s1', () => {}); test('s2', ({}, info) => { expect(info.retry).toBe(1); }); test('s3', () => {}); });`,
  'b.spec.ts': `import { test } from '@playwright/test'; test.beforeAll(() => { console.log('before b'); }); for (let i = 0; i < 12; i++) test('b' + i, () => {});`,
};

function names(attempt) {
  return new Map(attempt.tests.map(test => [test.id, [test.project, ...test.titlePath].join(' > ')]));
}

for (const version of versions) {
  test(`${version}: two processes share a suite, and their blobs make one report`, async () => {
    const dir = makeRepository(files, version);
    const attempts = await runShared(dir, { start: { workers: version === newest ? 2 : 1 } });
    const own = attempts.map(attempt => Object.keys(attempt.ran()).filter(name => !/^(setup|down)/.test(name)));
    assert.equal(new Set(own.flat()).size, own[0].length + own[1].length, 'no test ran twice');
    assert.equal(own.flat().length, attempts[0].tests.filter(({ setup }) => !setup).length, 'every test ran');
    for (const attempt of attempts) {
      assert.deepEqual(Object.values(attempt.ran()).filter(status => status !== 'passed'), []);
      assert.ok(attempt.ran()['setup > in'] && attempt.ran()['down > out']);
      assert.deepEqual(attempt.all('refused'), []);
      assert.ok(!fs.existsSync(attempt.report('html')));
      const over = attempt.all('over').flatMap(({ ids }) => ids.map(id => names(attempt).get(id)));
      assert.deepEqual(over.sort(), own[attempts.indexOf(attempt)].sort());
    }
    assert.deepEqual([...attempts[0].units], [...attempts[1].units]);
    const sizes = prefix => [...attempts[0].units.values()].map(ids => names(attempts[0]).get(ids[0]) + ' ' + ids.length).filter(name => name.startsWith(prefix));
    assert.deepEqual(sizes('shop').sort(), ['shop > b0 12', 'shop > one 6']);
    assert.deepEqual(sizes('plain').sort(), ['plain > b0 3', 'plain > b3 3', 'plain > b6 3', 'plain > b9 3', 'plain > dies 1', 'plain > flaky 1', 'plain > one 1', 'plain > s1 3']);

    const broken = path.join(attempts[0].outDir, 'broken.zip');
    fs.writeFileSync(broken, fs.readFileSync(attempts[0].report('blob/report.zip')).subarray(0, 400));
    const results = path.join(attempts[0].outDir, 'results.ndjson');
    fs.writeFileSync(results, JSON.stringify({
      id: 'lost-1', project: 'plain', file: 'a.spec.ts', line: 1, column: 1, title: 'gone', titlePath: ['far', 'gone'], tags: [], retries: 0, timeoutMs: 1000,
      expectedStatus: 'passed', annotations: [], note: 'its machine was lost', tries: [{ retry: 0, status: 'failed', startedAt: new Date().toISOString(), durationMs: 5, errors: [{ message: 'no such shop' }] }],
    }) + '\nno json\n');
    const merge = new Attempt(dir, { merge: { blobs: [...attempts.map(attempt => attempt.report('blob/report.zip')), broken], results } });
    const merged = await merge.wait('merged');
    await merge.wait('bye');
    assert.equal(await merge.exit, 0);
    assert.deepEqual(merged.skipped, [broken]);
    assert.equal(merged.blobs, 2);
    assert.equal(merged.total, attempts[0].tests.length + 1);
    assert.equal(merge.all('error').length, 2);
    const counts = readHtml(merge).stats;
    assert.deepEqual([counts.total, counts.unexpected, counts.ok], [attempts[0].tests.length + 1, 1, false]);
  });

  // The version in the middle runs as the oldest does.
  if (version === versions[1])
    continue;

  test(`${version}: nothing granted, aborted`, async () => {
    const dir = makeRepository(files, version);
    const [nothing, aborted] = [new Attempt(dir, { shards: 2 }), new Attempt(dir, { shards: 2 })];
    nothing.on(({ type }) => type === 'offer' && nothing.close());
    aborted.on(({ type }) => type === 'offer' && aborted.send({ type: 'abort' }));
    await Promise.all([nothing.select(), aborted.select()]);
    await Promise.all([nothing.exit, aborted.exit]);
    assert.deepEqual(nothing.ran(), { 'setup > in': 'passed', 'down > out': 'passed' });
    assert.equal((await nothing.wait('end')).status, 'passed');
    assert.equal((await aborted.wait('end')).status, 'interrupted');
    assert.equal(aborted.all('offer').length, 1);
    assert.ok(nothing.all('bye').length && aborted.all('bye').length);
  });
}

test('only what is granted runs, in the order of the grants', async () => {
  const attempt = new Attempt(makeRepository({ ...files, 'playwright.config.ts': 'export default { testMatch: /b.spec/, fullyParallel: true };' }), { shards: 2 });
  await attempt.select();
  const { ids } = await attempt.wait('offer');
  const [first, second] = [...attempt.units.values()];
  attempt.grant(second, first, ['no such test']);
  attempt.grant(second);
  assert.deepEqual((await attempt.wait('refused')).ids, ['no such test']);
  await attempt.wait('over', over => over.ids[0] === first[0]);
  assert.deepEqual(attempt.all('refused')[1].ids, second);
  assert.ok(attempt.all('want').some(({ free }) => free === 0));
  attempt.close();
  await attempt.wait('bye');
  assert.deepEqual(attempt.all('testEnd').map(({ id }) => id), [...second, ...first]);
  assert.equal(ids.length, 12);
  assert.equal(attempt.all('output').length, 2, 'beforeAll ran for each of the two units');
  await attempt.exit;
});

test('a process that is left alone ends, and one whose set-up fails offers nothing', async () => {
  const alone = new Attempt(makeRepository(files), { shards: 2 });
  await alone.select();
  await alone.wait('offer');
  alone.socket.destroy();
  const [failing] = await runShared(makeRepository({ ...files, 'a.setup.ts': `import { test } from '@playwright/test'; test('in', () => { throw new Error('no'); });`, 'playwright.config.ts': config.replace(/, \{ name: 'plain'.*\}\] \}/, '] }') }), { count: 1 });
  assert.deepEqual(failing.all('offer'), []);
  assert.equal((await failing.wait('end')).status, 'failed');
  await alone.exit;
});

test('no blob that can be read is a failure that names them', async () => {
  const merge = new Attempt(makeRepository({}), { merge: { blobs: ['/nowhere/report.zip'] } });
  const failed = await merge.wait('failed');
  assert.equal(failed.code, 'merge');
  assert.match(failed.message, /nowhere/);
  await merge.exit;
});
