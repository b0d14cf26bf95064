// What a process does with what it is granted, where Playwright has rules of its own: modes, retries, locks, limits.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('fs');
const path = require('path');
const { Attempt, makeRepository, newest, run, runShared, versions } = require('./attempt');

const oldest = versions[0];
const head = `import { test, expect } from '@playwright/test'; import * as fs from 'fs';
const gate = async (name: string) => { while (process.connected && !fs.existsSync(name)) await new Promise(done => setTimeout(done, 20)); };\n`;

/** An attempt that has an offer, and a way to open the gates of its tests. */
async function offered(files, { version, select, workers = 1, shards = 2 } = {}) {
  const dir = makeRepository(files, version);
  const attempt = new Attempt(dir, { shards, workers });
  await attempt.select(select);
  await attempt.wait('want');
  attempt.open = name => fs.writeFileSync(path.join(dir, name), '');
  attempt.over = (...ids) => attempt.wait('over', over => ids.every(id => over.ids.includes(id)));
  attempt.begun = (id, retry = 0) => attempt.wait('testBegin', begin => begin.id === id && begin.retry === retry);
  attempt.end = async () => {
    attempt.close();
    const end = await attempt.wait('end');
    await attempt.exit;
    return end.status;
  };
  attempt.titles = type => attempt.all(type).map(({ id, retry }) => attempt.tests.find(test => test.id === id).title + (retry ? ` ${retry}` : ''));
  return attempt;
}

// They wait for longer than Playwright ever needs to start: begun here, while the other tests run.
const limited = { 'playwright.config.ts': 'export default { globalTimeout: 30000 };', 'a.spec.ts': `${head}test('waits', () => gate('never')); test('next', () => {});` };
const timingOut = [oldest, newest].flatMap(version => [true, false].map(busy => offered(limited, { version }).then(attempt => {
  if (busy)
    attempt.grant(attempt.tests.map(({ id }) => id));
  return { attempt, busy, version };
})));
timingOut.forEach(begun => begun.catch(() => {}));

for (const version of [oldest, newest]) {
  test(`${version}: a file that does not load fails each process, the others run`, async () => {
    const attempts = await runShared(makeRepository({
      'a.spec.ts': `${head}test('a', () => {});`, 'b.spec.ts': `${head}test('b', () => {});`, 'broken.spec.ts': `throw new Error('no such shop');`,
    }, version));
    assert.deepEqual(Object.assign({}, ...attempts.map(attempt => attempt.ran())), { a: 'passed', b: 'passed' });
    for (const attempt of attempts) {
      assert.deepEqual(attempt.all('error').map(({ location, message }) => [location.file, /no such shop/.test(message)]), [['broken.spec.ts', true]]);
      assert.equal((await attempt.wait('end')).status, 'failed');
    }
  });

  test(`${version}: repetitions are units, and a list over several becomes a group for each`, async () => {
    const attempt = await offered({ 'playwright.config.ts': 'export default { repeatEach: 2 };', 'a.spec.ts': `${head}test.beforeAll(() => { console.log('before'); }); test('one', () => {}); test('two', () => {});` }, { version });
    assert.deepEqual([...attempt.units.values()].map(ids => ids.length), [2, 2]);
    const [first, second] = [...attempt.units.values()];
    attempt.grant([second[1], first[0], second[0]]);
    await attempt.over(...second, first[0]);
    assert.equal(await attempt.end(), 'passed');
    assert.deepEqual(attempt.all('testEnd').map(({ id }) => id), [...second, first[0]]);
    assert.equal(attempt.all('output').length, 2);
    assert.equal(attempt.all('over').length, 1);
  });

  test(`${version}: test.only leaves the rest out of the offer`, async () => {
    const attempt = await offered({
      'playwright.config.ts': 'export default { fullyParallel: true };', 'a.spec.ts': `${head}test.only('mine', () => {}); test('yours', () => {});`, 'b.spec.ts': `${head}test('theirs', () => {});`,
    }, { version });
    const [mine] = attempt.tests;
    assert.deepEqual(attempt.tests.map(({ title }) => title), ['mine']);
    assert.deepEqual(attempt.all('offer').map(({ ids }) => ids), [[mine.id]]);
    attempt.grant([mine.id]);
    await attempt.over(mine.id);
    assert.equal(await attempt.end(), 'passed');
    assert.deepEqual(attempt.ran(), { mine: 'passed' });
  });

  test(`${version}: a file in default mode, granted in two parts`, async () => {
    const attempt = await offered({
      'playwright.config.ts': 'export default { retries: 1 };',
      'a.spec.ts': `${head}test.beforeAll(() => { console.log('before'); }); test('one', () => {}); test('two', ({}, info) => { expect(info.retry).toBe(1); }); test('three', () => {}); test('four', () => {});`,
    }, { version });
    const [one, two, three, four] = attempt.tests.map(({ id }) => id);
    attempt.grant([two, four]);
    await attempt.over(two, four);
    attempt.grant([one, three]);
    await attempt.over(one, three);
    assert.equal(await attempt.end(), 'passed');
    assert.deepEqual(attempt.titles('testBegin'), ['two', 'two 1', 'four', 'one', 'three']);
    assert.deepEqual(attempt.all('refused'), []);
  });

  test(`${version}: a part of a serial group is retried without the members that are granted elsewhere, or were before`, async () => {
    const attempt = await offered({
      'playwright.config.ts': 'export default { retries: 1 };',
      'a.spec.ts': `${head}test.describe.configure({ mode: 'serial' }); test('one', () => {}); test('two', ({}, info) => { expect(info.retry).toBe(1); }); test('three', () => {}); test('four', () => {});`,
    }, { version });
    const [one, two, three] = attempt.tests.map(({ id }) => id);
    attempt.grant([one]);
    await attempt.over(one);
    attempt.grant([two, three]);
    await attempt.over(two, three);
    assert.equal(await attempt.end(), 'passed');
    assert.deepEqual(attempt.titles('testBegin').filter(title => !/three/.test(title)), ['one', 'two', 'two 1']);
    assert.deepEqual(attempt.ran(), { one: 'passed', two: 'passed', three: 'passed' });
  });

  test(`${version}: too many failures while more is on offer`, async () => {
    const attempt = await offered({
      'playwright.config.ts': 'export default { maxFailures: 1, fullyParallel: true };',
      'a.spec.ts': `${head}test('waits', () => gate('never')); test('bad', async () => { await gate('go'); throw new Error('no'); }); test('queued', () => {}); test('free', () => {});`,
    }, { version, workers: 2 });
    const [waits, bad, queued, free] = attempt.tests.map(({ id }) => id);
    attempt.grant([waits], [bad], [queued]);
    await Promise.all([attempt.begun(waits), attempt.begun(bad)]);
    assert.deepEqual(attempt.all('want').at(-1), { type: 'want', free: 0, queued: 1 });
    attempt.on(({ type, id }) => type === 'testEnd' && id === bad && attempt.grant([free]));
    attempt.open('go');
    assert.deepEqual((await attempt.wait('refused')).ids, [free]);
    assert.equal((await attempt.wait('end')).status, 'failed');
    await attempt.exit;
    assert.deepEqual(attempt.ran(), { waits: 'interrupted', bad: 'failed' });
    assert.deepEqual(attempt.all('want').at(-1), { type: 'want', free: 0, queued: 0 });
  });

  test(`${version}: set-up tests alone are not on offer: each process runs them and ends`, async () => {
    const attempts = await runShared(makeRepository({
      'playwright.config.ts': `export default { projects: [{ name: 'setup', testMatch: /setup\\.ts/ }, { name: 'shop', dependencies: ['setup'], testMatch: /spec/ }] };`,
      'a.setup.ts': `${head}test('in', () => {});`, 'a.spec.ts': `${head}test('buys', () => {});`,
    }, version), { select: attempt => ({ include: [attempt.id('setup', 'in')] }) });
    for (const attempt of attempts) {
      assert.deepEqual(attempt.ran(), { 'setup > in': 'passed' });
      assert.deepEqual(attempt.all('offer'), []);
      assert.equal((await attempt.wait('end')).status, 'passed');
      assert.ok(fs.existsSync(attempt.report('blob/report.zip')));
    }
  });
}

test('no worker is free for a project that has its own limit of workers', async () => {
  const attempt = await offered({
    'playwright.config.ts': `export default { fullyParallel: true, projects: [{ name: 'one', workers: 1, testMatch: /one/ }, { name: 'all', testMatch: /all/ }] };`,
    'one.spec.ts': `${head}test('a', () => gate('go')); test('b', () => {}); test('c', () => {});`, 'all.spec.ts': `${head}test('d', () => {});`,
  }, { workers: 3 });
  const [a, b, c, d] = ['a', 'b', 'c'].map(title => attempt.id('one', title)).concat(attempt.id('all', 'd'));
  const wanted = () => attempt.all('want').at(-1);
  assert.deepEqual(wanted(), { type: 'want', free: 3, queued: 0 });
  attempt.grant([a]);
  await attempt.begun(a);
  assert.equal(wanted().free, 2, 'for the other project');
  attempt.grant([b], [d]);
  await attempt.over(d);
  await attempt.wait('want', want => want.free === 0 && want.queued === 1);
  assert.deepEqual(wanted(), { type: 'want', free: 0, queued: 1 });
  attempt.open('go');
  await attempt.over(b);
  attempt.grant([c]);
  await attempt.over(c);
  assert.equal(await attempt.end(), 'passed');
  assert.deepEqual(attempt.titles('testEnd').filter(title => title !== 'd'), ['a', 'b', 'c']);
});

test('a retry in isolation waits for what was granted, and while it runs nothing is free', async () => {
  const attempt = await offered({
    'playwright.config.ts': `export default { fullyParallel: true, retries: 1, retryStrategy: 'isolated' };`,
    'a.spec.ts': `${head}test('flaky', async ({}, info) => { if (info.retry) await gate('retry'); expect(info.retry).toBe(1); }); test('long', () => gate('long')); test('later', () => {}); test('last', () => {});`,
  }, { workers: 2 });
  const [flaky, long, later, last] = attempt.tests.map(({ id }) => id);
  attempt.grant([flaky], [long]);
  await attempt.wait('testEnd', ({ id }) => id === flaky);
  attempt.grant([later]);
  await attempt.over(later);
  assert.deepEqual(attempt.titles('testBegin').filter(title => title.startsWith('flaky')), ['flaky']);
  attempt.open('long');
  await attempt.begun(flaky, 1);
  await attempt.wait('over', ({ ids }) => ids.includes(long));
  attempt.grant([last]);
  await attempt.wait('want', want => want.queued === 1 && want.free === 0);
  attempt.open('retry');
  await attempt.over(last);
  assert.equal(await attempt.end(), 'passed');
  assert.deepEqual(attempt.titles('testBegin').slice(-3), ['later', 'flaky 1', 'last']);
  assert.deepEqual(attempt.all('over').map(({ ids }) => ids), [[later], [long], [flaky], [last]]);
});

test('a retry in isolation comes after all that was granted before it', async () => {
  const attempt = await offered({
    'playwright.config.ts': `export default { fullyParallel: true, retries: 1, retryStrategy: 'isolated' };`,
    'a.spec.ts': `${head}test('flaky', ({}, info) => { expect(info.retry).toBe(1); }); test('long', () => gate('long')); test('later', () => {});`,
  });
  const [flaky, long, later] = attempt.tests.map(({ id }) => id);
  attempt.grant([flaky], [long]);
  await attempt.begun(long);
  attempt.grant([later]);
  await attempt.wait('want', want => want.queued === 1 && attempt.all('want').at(-1) === want);
  attempt.open('long');
  await attempt.over(flaky);
  assert.equal(await attempt.end(), 'passed');
  assert.deepEqual(attempt.titles('testBegin'), ['flaky', 'long', 'later', 'flaky 1']);
});

test('tests that share a lock do not run at once, however they are granted', async () => {
  const attempt = await offered({
    'playwright.config.ts': 'export default { retries: 1 };',
    'a.spec.ts': `${head}test('a', { lock: 'cart' }, () => gate('go')); test('after a', () => {});`,
    'b.spec.ts': `${head}test('b', { lock: 'cart' }, ({}, info) => { expect(info.retry).toBe(1); });`,
    'c.spec.ts': `${head}test('c', () => {});`,
  }, { workers: 2 });
  const [a, b, c] = ['a', 'b', 'c'].map(title => attempt.id(title));
  attempt.grant([a], [b], [c]);
  await attempt.over(c);
  await attempt.begun(a);
  assert.deepEqual(attempt.titles('testBegin').sort(), ['a', 'c']);
  // A part of a unit holds the locks of its own tests alone.
  attempt.grant([attempt.id('after a')]);
  await attempt.over(attempt.id('after a'));
  attempt.open('go');
  await attempt.over(b);
  assert.equal(await attempt.end(), 'passed');
  assert.deepEqual(attempt.titles('testEnd'), ['c', 'after a', 'a', 'b', 'b 1']);
});

/** A repository with a Playwright of its own, in which some words are others. */
function changed(version, changes) {
  const dir = makeRepository({ 'a.spec.ts': `${head}test('works', () => {});` }, null);
  const from = path.join(__dirname, 'versions', version, 'node_modules');
  for (const name of ['playwright', '@playwright'])
    fs.cpSync(path.join(from, name), path.join(dir, 'node_modules', name), { recursive: true });
  fs.symlinkSync(path.join(from, 'playwright-core'), path.join(dir, 'node_modules', 'playwright-core'));
  const runner = path.join(dir, 'node_modules', 'playwright', 'lib', 'runner');
  const file = ['dispatcher.js', 'index.js'].map(name => path.join(runner, name)).find(file => fs.existsSync(file));
  let text = fs.readFileSync(file, 'utf8');
  for (const [before, after] of changes) {
    assert.ok(text.includes(before), `${version} has no ${before}`);
    text = text.replaceAll(before, after);
  }
  fs.writeFileSync(file, text);
  return dir;
}

test('a Playwright that is not as it is known runs nothing in parts, and everything without', async () => {
  for (const [version, changes, reason] of [
    [oldest, [['_updateCounterForWorkerHash', '_count']], /no _updateCounterForWorkerHash/],
    [oldest, [['_startJobInWorker', '_startJob']], /no _runJobInWorker/],
    [newest, [['var Dispatcher =', 'var Dispatching ='], ['new Dispatcher(', 'new Dispatching(']], /no Dispatcher/],
    [newest, [['_workerSlots', '_slots']], /keeps its queue or its workers in another way/],
    [newest, [['hasReachedMaxFailures', 'reachedMaxFailures']], /does not know of the failures/],
    [newest, [['requireFile:', 'file:'], ['.requireFile', '.file']], /groups of tests are not of the known form/],
  ]) {
    const dir = changed(version, changes);
    const live = new Attempt(dir, { shards: 2 });
    live.on(({ type }) => type === 'listed' && live.send({ type: 'select', ids: {}, all: true }));
    const failed = await live.wait('failed');
    assert.equal(failed.code, 'not-live', failed.message);
    assert.match(failed.message, reason);
    await live.exit;
    assert.deepEqual([...live.all('testBegin'), ...live.all('offer')], []);
    if (changes.length > 1)
      assert.deepEqual((await run(dir)).ran(), { works: 'passed' });
  }
});

test('the global timeout ends a process that waits, and one that runs', async () => {
  for (const { attempt, busy, version } of await Promise.all(timingOut)) {
    assert.equal((await attempt.wait('end')).status, 'timedout', version);
    await attempt.exit;
    assert.deepEqual(attempt.ran(), busy ? { waits: 'interrupted' } : {}, version);
    assert.deepEqual(attempt.all('want').at(-1), { type: 'want', free: 0, queued: 0 }, version);
  }
});
