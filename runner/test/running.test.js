// What is told while tests run, and what happens when things go wrong.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const { Attempt, makeRepository, run, versions, newest } = require('./attempt');

const spec = body => ({ 'a.spec.ts': `import { test, expect } from '@playwright/test';\n${body}` });

/** The events in a report that was written completely. */
function blobEvents(attempt) {
  const text = execFileSync('python3', ['-c', 'import sys,zipfile; sys.stdout.write(zipfile.ZipFile(sys.argv[1]).read("report.jsonl").decode())', attempt.report('blob/report.zip')], { maxBuffer: 1 << 28 });
  return String(text).trim().split('\n').map(line => JSON.parse(line));
}

test('a flaky test: each try is told, and why it failed', async () => {
  const attempt = await run(makeRepository({
    'playwright.config.ts': 'export default { retries: 2 };',
    ...spec(`test('flaky', async ({}, info) => { test.info().annotations.push({ type: 'try', description: String(info.retry) }); expect(info.retry, 'tries').toBe(1); });`),
  }));
  const tries = attempt.all('testEnd');
  assert.deepEqual(tries.map(({ retry, status, willRetry }) => [retry, status, willRetry]), [[0, 'failed', true], [1, 'passed', false]]);
  const [error] = tries[0].errors;
  assert.match(error.message, /tries[^]*Expected: 1[^]*Received: 0/);
  assert.ok(!JSON.stringify(attempt.messages).includes('\\u001b'), 'no ANSI codes anywhere');
  assert.equal(error.location.file, 'a.spec.ts');
  assert.equal(error.location.line, 2);
  assert.match(error.snippet, /> 2 \|/);
  assert.deepEqual(tries[1].annotations, [{ type: 'try', description: '1' }]);
  assert.equal((await attempt.wait('end')).status, 'passed');
});

test('the order of the protocol, and reports that are complete at bye', async () => {
  const attempt = new Attempt(makeRepository(spec(`test('works', () => {}); test.fail('fails as told', () => { expect(1).toBe(2); });`)));
  await attempt.select();
  await attempt.wait('bye');
  assert.ok(fs.existsSync(attempt.report('html/index.html')));
  assert.equal(blobEvents(attempt).at(-1).method, 'onEnd');
  await attempt.exit;
  const order = attempt.messages.map(message => message.type).filter((type, index, all) => type !== all[index - 1] && !/^step/.test(type));
  assert.deepEqual(order.filter((type, index) => type !== order[index - 1]), ['hello', 'suite', 'tests', 'listed', 'selected', 'begin', 'testBegin', 'testEnd', 'testBegin', 'testEnd', 'end', 'bye']);
  assert.equal((await attempt.wait('end')).status, 'passed');
  assert.equal((await attempt.wait('hello')).repositoryRunner, null);
});

for (const version of versions) {
  test(`${version}: a file with a syntax error fails the run, the other files run`, async () => {
    const attempt = await run(makeRepository({ ...spec(`test('works', () => { console.log('seen'); });`), 'broken.spec.ts': `import { test } from '@playwright/test';\ntest('x', () => {{{ ;`, 'throws.spec.ts': `throw new Error('no such shop');` }, version));
    assert.deepEqual(attempt.ran(), { works: 'passed' });
    const errors = attempt.all('error');
    assert.deepEqual(errors.map(error => error.location.file).sort(), ['broken.spec.ts', 'throws.spec.ts']);
    assert.ok(errors.some(error => /Unexpected token/.test(error.message) && error.location.line === 2));
    assert.ok(errors.some(error => /no such shop/.test(error.message)));
    assert.ok(errors.every(error => error.snippet));
    assert.equal((await attempt.wait('listed')).fatal, false);
    assert.equal((await attempt.wait('end')).status, 'failed');
    assert.equal(attempt.code, 1);
    assert.equal((await attempt.wait('output')).text, 'seen\n');
    const events = blobEvents(attempt);
    assert.equal(events.at(-1).params.result.status, 'failed');
    if (version === newest) // an older Playwright has no way to hand an error to the other reporters
      assert.ok(events.some(event => event.method === 'onError' && /no such shop/.test(JSON.stringify(event))), 'the reports show it');
  });

  // The version in the middle runs as the oldest does.
  if (version === versions[1])
    continue;

  test(`${version}: a config that throws`, async () => {
    const attempt = new Attempt(makeRepository({ 'playwright.config.ts': `throw new Error('no SHOP_URL');` }, version));
    assert.match((await attempt.wait('error')).message, /no SHOP_URL/);
    assert.equal((await attempt.wait('listed')).fatal, true);
    const failed = await attempt.wait('failed');
    assert.equal(failed.code, 'bad-config');
    assert.match(failed.message, /no SHOP_URL/);
    await attempt.wait('bye');
    assert.notEqual(await attempt.exit, 0);
  });

  test(`${version}: a test that hangs is killed, the next one runs`, async () => {
    const attempt = await run(makeRepository({
      'playwright.config.ts': 'export default { timeout: 500 };',
      ...spec(`test('hangs', () => { for (;;) {} });
test('long but alive', async () => { test.setTimeout(20000); await new Promise(done => setTimeout(done, 3500)); });
test('next', () => {});`),
    }, version), { all: true }, { hangFactor: 2, hangGraceMs: 500 });
    assert.deepEqual(attempt.ran(), { 'hangs': 'failed', 'long but alive': 'passed', 'next': 'passed' });
    assert.match((await attempt.wait('testEnd', end => end.status === 'failed')).errors[0].message, /stuck.*1500 ms/);
    assert.deepEqual(attempt.all('hung'), [{ type: 'hung', id: attempt.id('hangs'), retry: 0, limitMs: 1500 }]);
    assert.equal((await attempt.wait('end')).status, 'failed');
  });

  test(`${version}: a set-up file that does not load keeps what depends on it from running`, async () => {
    const repository = makeRepository({
      'playwright.config.ts': `export default { projects: [{ name: 'setup', testMatch: /setup\\.ts/ }, { name: 'shop', dependencies: ['setup'] }, { name: 'plain' }] };`,
      'auth.setup.ts': `throw new Error('no user');`,
      ...spec(`test('buys', () => {});`),
    }, version);
    const plain = await run(repository, attempt => ({ include: [attempt.id('plain', 'buys')] }));
    assert.deepEqual(plain.ran(), { 'plain > buys': 'passed' });
    const shop = await run(repository, attempt => ({ include: [attempt.id('shop', 'buys')] }));
    assert.deepEqual(shop.ran(), {});
    assert.match(JSON.stringify([shop.all('error'), shop.all('failed')]), /no user.*depend on setup/);
    assert.ok(shop.all('failed').length || shop.all('end')[0].status === 'failed');
  });

  test(`${version}: only broken files`, async () => {
    const attempt = await run(makeRepository({ 'broken.spec.ts': `throw new Error('no such shop');` }, version));
    assert.match((await attempt.wait('error')).message, /no such shop/);
    assert.equal((await attempt.wait('end')).status, 'failed');
    assert.equal(attempt.code, 1);
  });

  test(`${version}: abort interrupts what runs, reports are written`, async () => {
    const attempt = new Attempt(makeRepository(spec(`test('first', () => {}); test('waits', async ({ page }) => { await page.waitForSelector('never'); }); test('last', () => {});`), version));
    await attempt.select();
    await attempt.wait('testBegin', begin => begin.id === attempt.id('waits'));
    await attempt.wait('stepBegin', step => step.title.includes('aitForSelector') || step.title.includes('Wait for selector'));
    attempt.send({ type: 'abort', reason: 'cancelled' });
    assert.equal((await attempt.wait('end')).status, 'interrupted');
    await attempt.wait('bye');
    assert.deepEqual(attempt.ran(), { first: 'passed', waits: 'interrupted' });
    assert.ok(fs.existsSync(attempt.report('html/index.html')));
    assert.equal(blobEvents(attempt).at(-1).method, 'onEnd');
    await attempt.exit;
  });
}

test('abort before anything is selected', async () => {
  for (const version of [versions[0], newest]) {
    const attempt = new Attempt(makeRepository(spec(`test('x', () => {});`), version));
    await attempt.wait('listed');
    attempt.send({ type: 'abort', reason: 'cancelled' });
    assert.equal((await attempt.wait('end')).status, 'interrupted');
    await attempt.wait('bye');
    await attempt.exit;
    assert.deepEqual(attempt.ran(), {});
  }
});

test('an attempt that dies takes the run with it', async () => {
  const attempt = new Attempt(makeRepository(spec(`test('waits', async () => { console.log('here'); await new Promise(() => {}); });`)));
  await attempt.select();
  await attempt.wait('output');
  attempt.socket.destroy();
  await attempt.exit;
});

test('abort while a test is stuck in a loop', async () => {
  const attempt = new Attempt(makeRepository(spec(`test('busy', () => { console.log('go'); for (;;) {} });`)));
  await attempt.select();
  await attempt.wait('output');
  attempt.send({ type: 'abort' });
  await attempt.wait('bye');
  assert.deepEqual(attempt.ran(), { busy: 'interrupted' });
  assert.equal((await attempt.wait('end')).status, 'interrupted');
  await attempt.exit;
});

test('process.exit: in a test, in a test file, in the config', async () => {
  const inTest = await run(makeRepository(spec(`test('exits', () => { process.exit(0); }); test('next', () => {});`)));
  assert.deepEqual(inTest.ran(), { exits: 'failed', next: 'passed' });
  for (const files of [spec(`process.exit(0);`), { 'playwright.config.ts': `process.exit(0); export default {};` }]) {
    const attempt = new Attempt(makeRepository(files));
    const failed = await attempt.wait('failed');
    assert.match(failed.message, /process\.exit\(0\) was called at .*(a\.spec|playwright\.config)\.ts:[12]/);
    await attempt.wait('bye');
    await attempt.exit;
  }
});

test('global set-up that fails', async () => {
  const attempt = new Attempt(makeRepository({ 'playwright.config.ts': `export default { globalSetup: './setup.ts' };`, 'setup.ts': `export default () => { throw new Error('shop is down'); };`, ...spec(`test('x', () => {});`) }));
  assert.match((await attempt.wait('error')).message, /shop is down/);
  assert.deepEqual(await attempt.wait('listed'), { type: 'listed', total: 0, fatal: true });
  assert.equal((await attempt.wait('end')).status, 'failed');
  await attempt.wait('bye');
  await attempt.exit;
});

test('two tests of one title: Playwright refuses, and its reason is told', async () => {
  const attempt = await run(makeRepository(spec(`test('same', () => {}); test('same', () => {});`)));
  assert.match((await attempt.wait('error')).message, /duplicate test title/);
  assert.equal((await attempt.wait('end')).status, 'failed');
});

test('a test that prints 100 MB costs neither memory nor reports', async () => {
  const attempt = new Attempt(makeRepository(spec(`test('loud', () => { for (let i = 0; i < 1000; i++) console.log('x'.repeat(100 * 1024)); });
test('quiet', () => { console.log('\\u001b[31mred\\u001b[0m'); console.error('oops'); });`)));
  await attempt.select();
  await attempt.wait('end');
  const peak = Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${attempt.child.pid}/status`, 'utf8'))[1]) / 1024;
  await attempt.wait('bye');
  await attempt.exit;
  assert.deepEqual(attempt.ran(), { loud: 'passed', quiet: 'passed' });
  const loud = attempt.all('output').filter(output => output.id === attempt.id('loud'));
  assert.equal(loud.reduce((sum, output) => sum + output.text.length, 0), 64 * 1024);
  assert.equal(loud.at(-1).truncated, true);
  const quiet = attempt.all('output').filter(output => output.id === attempt.id('quiet'));
  assert.deepEqual(quiet.map(({ stream, text, truncated }) => [stream, text, truncated]), [['stdout', 'red\n', false], ['stderr', 'oops\n', false]]);
  assert.ok(peak < 300, `the main process took ${peak} MB`);
  const kept = JSON.stringify(blobEvents(attempt));
  assert.ok(kept.length < 3 << 20, `the blob holds ${kept.length} bytes`);
  assert.ok(kept.includes('the rest was dropped'));
});

test('attachments by path and by body, small and large', async () => {
  const attempt = await run(makeRepository(spec(`import * as fs from 'fs';
test('attaches', async ({}, info) => {
  const file = info.outputPath('note.txt'); fs.writeFileSync(file, 'from a file');
  await info.attach('by path', { path: file, contentType: 'text/plain' });
  await info.attach('small', { body: 'from memory', contentType: 'text/plain' });
  await info.attach('lar/ge', { body: Buffer.alloc(300 * 1024, 'y'), contentType: 'application/octet-stream' });
});`)));
  const [byPath, small, large] = (await attempt.wait('testEnd')).attachments;
  assert.equal(fs.readFileSync(byPath.path, 'utf8'), 'from a file');
  assert.ok(byPath.path.startsWith(attempt.report('results')));
  assert.deepEqual(small, { name: 'small', contentType: 'text/plain', body: Buffer.from('from memory').toString('base64') });
  assert.equal(large.body, undefined);
  assert.ok(large.path.startsWith(attempt.outDir));
  assert.equal(fs.statSync(large.path).size, 300 * 1024);
});

test('an error of megabytes is cut', async () => {
  const attempt = await run(makeRepository(spec(`test('x', () => { throw new Error('y'.repeat(5 << 20)); });`)));
  const [error] = (await attempt.wait('testEnd')).errors;
  assert.ok(error.message.length < 70_000);
  assert.match(error.message, /… \(cut\)$/);
});

test('browsers: links for Chromium, plain words for Firefox', async () => {
  const attempt = await run(makeRepository({
    'playwright.config.ts': `export default { projects: [{ name: 'c', use: { browserName: 'chromium' } }, { name: 'f', use: { browserName: 'firefox' } }] };`,
    ...spec(`test('opens', async ({ page }) => { await page.goto('about:blank'); });`),
  }));
  const { projects } = await attempt.wait('suite');
  assert.deepEqual(projects.map(project => [project.browserName, project.browserAvailable]), [['chromium', true], ['firefox', false]]);
  assert.deepEqual(attempt.ran(), { 'c > opens': 'passed', 'f > opens': 'failed' });
  const [error] = (await attempt.wait('testEnd', end => end.status === 'failed')).errors;
  assert.equal(error.message, 'Error: browser not available: firefox, this installation has chromium');
  const folders = fs.readdirSync(attempt.report('browsers')).filter(name => fs.existsSync(attempt.report(`browsers/${name}/INSTALLATION_COMPLETE`)));
  assert.equal(folders.length, 2);
});

test('a managed browser goes before the one of the system', async () => {
  const repository = makeRepository(spec(`test('opens', async ({ page }) => { await page.goto('about:blank'); });`));
  const first = await run(repository);
  const managed = first.report('browsers');
  const second = await run(repository, { all: true }, { managedBrowsers: managed, systemBrowsers: {} });
  assert.deepEqual(second.ran(), { opens: 'passed' });
  const links = fs.readdirSync(second.report('browsers'));
  assert.ok(links.length >= 2);
  for (const link of links)
    assert.equal(fs.readlinkSync(second.report(`browsers/${link}`)), path.join(managed, link));
});

test('test processes and what they start do not hold the socket', async () => {
  const repository = makeRepository({
    'playwright.config.ts': `import { execFileSync } from 'child_process'; import * as fs from 'fs';
fs.writeFileSync('fds.txt', execFileSync('/bin/ls', ['-l', '/proc/self/fd'])); export default {};`,
    ...spec(`test('x', () => {});`),
  });
  const attempt = await run(repository);
  assert.deepEqual(attempt.ran(), { x: 'passed' });
  const listing = fs.readFileSync(path.join(repository, 'fds.txt'), 'utf8');
  assert.ok(listing.includes(' 1 -> '), listing);
  assert.ok(!/ 3 -> socket/.test(listing), listing);
});

test('Playwright that is missing or too old', async () => {
  const missing = new Attempt(makeRepository({}, null));
  assert.equal((await missing.wait('failed')).code, 'no-playwright');
  await missing.exit;
  const old = makeRepository({ 'node_modules/@playwright/test/package.json': '{"name": "@playwright/test", "version": "1.49.1"}' }, null);
  const tooOld = new Attempt(old);
  const failed = await tooOld.wait('failed');
  assert.equal(failed.code, 'playwright-too-old');
  assert.match(failed.message, /1\.49\.1/);
  await tooOld.exit;
});

test('without a socket the runner says what it is', () => {
  assert.throws(() => execFileSync(process.execPath, [path.join(__dirname, '..', 'dist', 'main.js')], { stdio: 'pipe' }), error => error.status === 2 && /started by TAS/.test(error.stderr));
  assert.equal(String(execFileSync(process.execPath, [path.join(__dirname, '..', 'dist', 'cli.js'), '--version'])), '4.4.0\n');
});

test('the first worker is started early, unless the environment changes meanwhile', async () => {
  const config = more => `import * as fs from 'fs';
if (!process.env.TEST_WORKER_INDEX)
  fs.writeFileSync('early.txt', fs.readdirSync('/proc/self/task').map(id => fs.readFileSync('/proc/self/task/' + id + '/children', 'utf8')).join(' '));
export default { ${more} };`;
  const files = spec(`import * as fs from 'fs';
test('x', () => { console.log(fs.readFileSync('early.txt', 'utf8').trim().split(/ +/).includes(String(process.pid)), process.env.SHOP); });`);
  const early = await run(makeRepository({ 'playwright.config.ts': config(''), ...files }));
  assert.equal((await early.wait('output')).text, 'true undefined\n');
  const changed = await run(makeRepository({ 'playwright.config.ts': config(`globalSetup: './setup.ts'`), 'setup.ts': `export default () => { process.env.SHOP = 'open'; };`, ...files }));
  assert.equal((await changed.wait('output')).text, 'false open\n');
});

test('a copy of the runner in another place, beside the repository', async () => {
  const repository = makeRepository(spec(`test('x', () => {});`));
  const copy = makeRepository({}, null);
  fs.cpSync(path.join(__dirname, '..', 'dist'), path.join(copy, 'dist'), { recursive: true });
  fs.copyFileSync(path.join(__dirname, '..', 'package.json'), path.join(copy, 'package.json'));
  const attempt = new Attempt(repository, {}, {}, path.join(copy, 'dist', 'main.js'));
  await attempt.select();
  await attempt.wait('bye');
  await attempt.exit;
  assert.deepEqual(attempt.ran(), { x: 'passed' });
});

test('a repository of ES modules', async () => {
  for (const version of [versions[0], newest]) {
    const attempt = await run(makeRepository({
      'package.json': '{"private": true, "type": "module"}',
      'a.spec.ts': `import { test, expect } from '@playwright/test'; const here = import.meta.url; await Promise.resolve(); test('x', () => { expect(here).toContain('a.spec'); });`,
      'broken.spec.ts': 'export const = 1;',
    }, version));
    assert.deepEqual(attempt.ran(), { x: 'passed' }, version);
    assert.equal(attempt.all('error').length, 1, version);
    assert.match(attempt.tests[0].bodyHash, /./);
  }
});
