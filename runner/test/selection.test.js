// What is selected is exactly what runs, with each Playwright of the matrix.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { makeRepository, run, site, versions, newest } = require('./attempt');

function freePort() {
  return new Promise(resolve => {
    const server = require('net').createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const files = {
  'playwright.config.ts': `import { defineConfig } from '@playwright/test';
export default defineConfig({ testDir: 'e2e', repeatEach: 1, projects: [
  { name: 'setup', testMatch: /auth\\.setup\\.ts/, teardown: 'teardown' },
  { name: 'teardown', testMatch: /end\\.teardown\\.ts/ },
  { name: 'shop', dependencies: ['setup'], testMatch: /\\.spec\\.ts/ },
  { name: 'plain', testMatch: /cart\\.spec\\.ts/ },
] });`,
  'e2e/auth.setup.ts': `import { test as setup } from '@playwright/test'; setup('log in', () => {}); setup('seed', () => {});`,
  'e2e/end.teardown.ts': `import { test } from '@playwright/test'; test('log out', () => {});`,
  'e2e/cart.spec.ts': `import { test, expect } from '@playwright/test';
for (const n of [1, 11, 111]) test('buys ' + n, () => {});
test.describe('guest', () => { test('pays', () => {}); test('a › b > c\\nd  ', () => {}); });
test.describe('member', () => { test('pays', { tag: '@vip' }, () => {}); });
test.describe('checkout', () => { test.describe.configure({ mode: 'serial' }); test('first', () => {}); test('second', () => {}); });
test.describe('', () => { test('(odd) [chars] $^', () => {}); });`,
  'e2e/other.spec.ts': `import { test } from '@playwright/test'; test('pays', () => {});`,
};

for (const version of versions) {
  test(`${version}: exactly the included tests run`, async () => {
    const attempt = await run(makeRepository(files, version), attempt => ({ include: [
      attempt.id('plain', 'buys 1'), attempt.id('plain', 'member', 'pays'), attempt.id('plain', 'guest', 'a › b > c\nd  '), attempt.id('plain', '(odd) [chars] $^'),
    ] }));
    assert.deepEqual(Object.keys(attempt.ran()).sort(), ['plain > (odd) [chars] $^', 'plain > buys 1', 'plain > guest > a › b > c\nd  ', 'plain > member > pays']);
    assert.equal((await attempt.wait('selected')).setupIds.length, 0);
    assert.equal((await attempt.wait('end')).status, 'passed');
    assert.equal(attempt.code, 0);
  });

  test(`${version}: set-up and tear-down come along`, async () => {
    const attempt = await run(makeRepository(files, version), attempt => ({ include: [attempt.id('shop', 'guest', 'pays')] }));
    assert.deepEqual(Object.keys(attempt.ran()), ['setup > log in', 'setup > seed', 'shop > guest > pays', 'teardown > log out']);
    const selected = await attempt.wait('selected');
    assert.deepEqual(selected.ids, [attempt.id('shop', 'guest', 'pays')]);
    assert.deepEqual(selected.setupIds.sort(), [attempt.id('setup', 'log in'), attempt.id('setup', 'seed'), attempt.id('teardown', 'log out')].sort());
  });

  test(`${version}: a set-up test alone`, async () => {
    const attempt = await run(makeRepository(files, version), attempt => ({ include: [attempt.id('setup', 'seed')] }));
    assert.equal(attempt.ran()['setup > seed'], 'passed');
    assert.equal(attempt.ran()['shop > guest > pays'], undefined);
    assert.deepEqual((await attempt.wait('selected')).ids, [attempt.id('setup', 'seed')]);
    assert.equal((await attempt.wait('end')).status, 'passed');
  });

  test(`${version}: everything`, async () => {
    const attempt = await run(makeRepository(files, version), { all: true });
    assert.equal(attempt.all('testEnd').length, attempt.tests.length);
    assert.equal((await attempt.wait('selected')).setupIds.length, 3);
    assert.equal((await attempt.wait('selected')).ids.length, attempt.tests.length - 3);
  });

  // The version in the middle runs as the oldest does.
  if (version === versions[1])
    continue;

  test(`${version}: a grep that matches nothing runs nothing and passes`, async () => {
    const attempt = await run(makeRepository(files, version), { grep: 'no such thing' });
    assert.deepEqual(attempt.ran(), {});
    assert.deepEqual((await attempt.wait('selected')).ids, []);
    assert.deepEqual((await attempt.wait('selected')).setupIds, []);
    assert.equal((await attempt.wait('end')).status, 'passed');
  });

  test(`${version}: a test of each repetition can be chosen`, async () => {
    const repository = makeRepository({
      'playwright.config.ts': 'export default { repeatEach: 3 };',
      'a.spec.ts': `import { test } from '@playwright/test'; test('again', () => {}); test('other', () => {});`,
    }, version);
    const attempt = await run(repository, attempt => ({ include: [attempt.tests.find(test => test.title === 'again' && test.repeatEachIndex === 1).id] }));
    assert.equal(attempt.tests.length, 6);
    assert.deepEqual(attempt.all('testEnd').map(end => end.id), [attempt.tests.find(test => test.title === 'again' && test.repeatEachIndex === 1).id]);
  });

  test(`${version}: test.only focuses a run, not a listing`, async () => {
    const repository = makeRepository({ 'a.spec.ts': `import { test } from '@playwright/test'; test.only('mine', () => {}); test('yours', () => {});` }, version);
    const attempt = await run(repository);
    assert.deepEqual(attempt.ran(), { mine: 'passed' });
    assert.equal((await attempt.wait('listed')).focused, true);
    const listing = await run(repository, undefined, { listOnly: true });
    assert.deepEqual(listing.tests.map(test => test.title), ['mine', 'yours']);
    assert.equal(listing.all('testBegin').length, 0);
  });

  test(`${version}: grep in both forms, and by the IDs of the service`, async () => {
    const repository = makeRepository(files, version);
    const cases = [
      [{ grep: 'cart.spec.ts › member › PAYS @vip' }, ['plain > member > pays', 'shop > member > pays']],
      [{ grep: 'plain cart.spec.ts guest pays' }, ['plain > guest > pays']],
      [{ grep: '/Guest/' }, []],
      [{ grep: '/buys 1$/' }, ['plain > buys 1', 'shop > buys 1']],
      [attempt => ({ grep: 'b0000000-0000-4000-8000-000000000001|b0000000-0000-4000-8000-000000000002', ids: { [attempt.id('plain', 'buys 11')]: 'b0000000-0000-4000-8000-000000000002' } }), ['plain > buys 11']],
    ];
    for (const [select, expected] of version === newest ? cases : cases.slice(1, 2)) {
      const attempt = await run(repository, select);
      assert.deepEqual(Object.keys(attempt.ran()).filter(name => !/^(setup|teardown)/.test(name)).sort(), expected, JSON.stringify(select));
    }
  });
}

test('the listing tells what the protocol promises', async () => {
  const attempt = await run(makeRepository({
    ...files,
    'e2e/helper.ts': `import { test } from '@playwright/test'; export const check = (name: string) => test('checks ' + name, () => {});`,
    'e2e/helped.spec.ts': `import { test } from '@playwright/test'; import { check } from './helper';
test.describe('helped', () => { check('one'); });
test.skip('later', { annotation: { type: 'issue', description: 'SHOP-1' } }, () => {});`,
  }), undefined, { listOnly: true });
  const suite = await attempt.wait('suite');
  assert.deepEqual(suite.projects.map(({ name, setup, dependencies, teardown }) => [name, setup, dependencies, teardown]), [
    ['setup', true, [], 'teardown'], ['teardown', true, [], null], ['shop', false, ['setup'], null], ['plain', false, [], null],
  ]);
  const find = (...path) => attempt.tests.find(test => test.id === attempt.id(...path));
  const { file, line, tags, mode, serialGroup, setup, timeoutMs } = find('plain', 'member', 'pays');
  assert.deepEqual({ file, line, tags, mode, serialGroup, setup, timeoutMs }, { file: 'e2e/cart.spec.ts', line: 4, tags: ['@vip'], mode: 'default', serialGroup: undefined, setup: false, timeoutMs: 30000 });
  assert.equal(find('setup', 'seed').setup, true);
  const [first, second, otherProject] = [find('plain', 'checkout', 'first'), find('plain', 'checkout', 'second'), find('shop', 'checkout', 'first')];
  assert.equal(first.mode, 'serial');
  assert.equal(first.serialGroup, second.serialGroup);
  assert.notEqual(first.serialGroup, otherProject.serialGroup);
  const helped = find('shop', 'helped', 'checks one');
  assert.equal(helped.file, 'e2e/helped.spec.ts');
  assert.equal(helped.line, 2);
  assert.equal(helped.location.file, 'e2e/helper.ts');
  assert.match(helped.bodyHash, /^[0-9a-f]{64}$/);
  const later = find('shop', 'later');
  assert.equal(later.expectedStatus, 'skipped');
  assert.ok(later.annotations.some(({ type, description }) => type === 'issue' && description === 'SHOP-1'));
});

test('a set-up test alone, where a web server must not be started twice', async () => {
  const port = await freePort();
  const attempt = await run(makeRepository({
    'playwright.config.ts': `export default { webServer: { command: 'node server.js', url: 'http://127.0.0.1:${port}', reuseExistingServer: false },
  projects: [{ name: 'setup', testMatch: /setup\\.ts/ }, { name: 'shop', dependencies: ['setup'], testMatch: /spec/ }] };`,
    'server.js': `require('http').createServer((request, response) => response.end('ok')).listen(${port}, '127.0.0.1');`,
    'a.setup.ts': `import { test } from '@playwright/test'; test('seed', async ({ request }) => { await request.get('http://127.0.0.1:${port}'); });`,
    'a.spec.ts': `import { test } from '@playwright/test'; test('buys', () => {});`,
  }), attempt => ({ include: [attempt.id('setup', 'seed')] }));
  assert.deepEqual(attempt.ran(), { 'setup > seed': 'passed' });
  assert.equal((await attempt.wait('end')).status, 'passed');
  assert.equal(attempt.all('begin').length, 1);
});

test('patterns that are wrong, and that never end', async () => {
  const repository = makeRepository({ 'a.spec.ts': `import { test } from '@playwright/test'; test('${'a'.repeat(60)}!', () => {});` });
  const invalid = await run(repository, { grep: '(' });
  assert.equal((await invalid.wait('failed')).code, 'grep-invalid');
  const endless = await run(repository, { grep: '(a+)+$' }, { grepTimeoutMs: 300 });
  assert.equal((await endless.wait('failed')).code, 'grep-timeout');
  assert.equal(endless.all('begin').length, 0);
});

test('an ID that is not in the checkout is named', async () => {
  const attempt = await run(makeRepository(files), { include: ['0123-gone'] });
  const failed = await attempt.wait('failed');
  assert.equal(failed.code, 'internal');
  assert.match(failed.message, /0123-gone/);
});

test('a real page in a real browser, seen step by step', async t => {
  const shop = await site();
  t.after(shop.close);
  for (const version of versions) {
    const attempt = await run(makeRepository({ 'a.spec.ts': `import { test, expect } from '@playwright/test';
test('buys', async ({ page }) => {
  await page.goto('${shop.url}/');
  await test.step('checkout', async () => {
    await page.getByRole('button', { name: 'Buy' }).click();
    await expect(page.getByRole('button')).toHaveText('Sold');
  });
});` }, version));
    assert.deepEqual(attempt.ran(), { buys: 'passed' }, version);
    const outer = await attempt.wait('step', step => step.title === 'checkout');
    assert.deepEqual([outer.category, outer.depth, outer.location.file, outer.location.line], ['test.step', 0, 'a.spec.ts', 4]);
    const inner = attempt.all('step').filter(step => step.depth === 1 && step.category === 'expect');
    assert.equal(inner.length, 1);
    assert.ok(attempt.all('stepBegin').some(step => step.title === 'checkout'));
  }
});
