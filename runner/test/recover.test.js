// A locator that finds nothing is asked for while the test runs; whatever is not surely safe stays as it was.
const { test, before, after } = require('node:test');
const assert = require('node:assert/strict');
const http = require('http');
const { Attempt, makeRepository, newest, versions } = require('./attempt');

const page = `<title>Shop</title><main><button data-testid="new" onclick="said.textContent += 'bought '">Buy</button>
<button data-testid="other" onclick="said.textContent += 'other '">Other</button><p role="status" id="said"></p>
<form><input name="word" type="password" value="s3cret"><textarea name="note">pr1vate</textarea><input type="submit" value="Send"></form><div id="host"></div></main>
<script>document.getElementById('host').attachShadow({ mode: 'open' }).innerHTML = '<b>deep</b>';
if (location.search.startsWith('?late=')) setTimeout(() => document.querySelector('button').dataset.testid = 'old', +location.search.slice(6));
if (location.search === '?ill') fetch('/ill');
if (location.search === '?odd') { fetch('/gone/4711'); setTimeout(() => { throw new Error('odd'); }); }
document.querySelector('[name=word]').value = 'typ3d';</script>`;

let server, url;
before(async () => {
  server = http.createServer((request, response) => {
    response.statusCode = request.url === '/ill' ? 503 : request.url.startsWith('/gone') ? 404 : 200;
    response.setHeader('content-type', 'text/html');
    response.end(page);
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${server.address().port}/`;
});
after(() => server.close());

const found = { locator: `getByRole('main').getByTestId('new')`, before: `getByTestId('old')`, why: 'It is the same button.' };

/** Runs tests, whose bodies are given by their titles; `answer` is asked with each question. */
async function recovered(version, bodies, { start = { recover: true }, answer = () => found, config } = {}) {
  const tests = Object.entries(bodies).map(([title, body]) => `test(${JSON.stringify(title)}, async ({ page }) => {\n  ${body}\n});`).join('\n');
  const files = { 'a.spec.ts': `import { test, expect } from '@playwright/test';\nconst url = process.env.SHOP!;\n${tests}` };
  const attempt = new Attempt(makeRepository(config ? { ...files, 'playwright.config.ts': config } : files, version), start, { SHOP: url });
  attempt.on(async message => {
    if (message.type !== 'recover')
      return;
    const given = await answer(message, attempt);
    if (given && !attempt.gone)
      attempt.send({ type: 'answer', id: message.id, ...given });
  });
  await attempt.select();
  await attempt.wait('bye');
  await attempt.exit;
  attempt.ends = {};
  for (const end of attempt.all('testEnd'))
    attempt.ends[attempt.tests.find(({ id }) => id === end.id).title] = end;
  attempt.asks = title => attempt.all('recover').filter(({ test }) => attempt.tests.find(({ id }) => id === test)?.title === title);
  return attempt;
}

const said = attempt => JSON.stringify(attempt.all('testEnd').flatMap(({ errors }) => errors.map(({ message }) => message)));
const old = `await page.goto(url);\n  await page.getByTestId('old').click({ timeout: 1000 });`;
const bought = `await expect(page.getByRole('status')).toHaveText('bought');`;

for (const version of versions) {
  test(`${version}: a test goes on with the answer, and says so`, async () => {
    const attempt = await recovered(version, {
      'goes on': `await page.goto(url + '?odd=1#x');\n  await page.waitForTimeout(100);\n  await page.getByTestId('old').click({ timeout: 1000 });\n  ${bought}`,
      'needs nothing': `await page.goto(url); await page.getByTestId('new').click(); ${bought}`,
      'each way': `await page.goto(url); await page.getByLabel('gone').fill('x', { timeout: 900 }); await page.getByTestId('old').hover({ timeout: 900 }); await expect(page.locator('[name=word]')).toHaveValue('x');`,
    }, { answer: ask => ask.method === 'fill' ? { ...found, locator: `locator('[name=word]')` } : found });
    assert.deepEqual(Object.values(attempt.ends).map(({ status }) => status), ['passed', 'passed', 'passed'], said(attempt));
    const [ask, ...more] = attempt.asks('goes on');
    assert.equal(more.length, 0);
    assert.deepEqual([ask.method, ask.selector, ask.retry, ask.url, ask.earlier], ['click', 'internal:testid=[data-testid="old"s]', 0, url, []]);
    assert.deepEqual([ask.frames[0].file, ask.frames[0].line], ['a.spec.ts', 6]);
    const seen = JSON.stringify(JSON.parse(ask.page));
    assert.match(seen, /\["button",\{"data-testid":"new"\},"Buy"\]/);
    assert.match(seen, /\["template",\{"__playwright_shadow_root_":"open"\},\["b",\{\},"deep"\]\]/);
    assert.match(seen, /"value":"Send"/);
    assert.doesNotMatch(seen, /s3cret|typ3d|pr1vate|onclick|setTimeout/);
    assert.deepEqual(attempt.ends['goes on'].recovered, [{ method: 'click', before: found.before, after: found.locator, file: 'a.spec.ts', line: 6, why: found.why }]);
    assert.equal(attempt.ends['needs nothing'].recovered, undefined);
    assert.equal(attempt.ends['each way'].recovered.length, 2);
    assert.equal(attempt.asks('needs nothing').length, 0);
  });

  test(`${version}: where nobody knows, the error is Playwright's own`, async () => {
    const bodies = { gone: old, short: `await page.goto(url);\n  await page.getByRole('button', { name: 'None' }).fill('x', { timeout: 300 });`,
      late: `await page.goto(url);\n  test.setTimeout(1500);\n  await page.getByTestId('old').click();`, bad: `await page.goto(url);\n  await page.locator('a[').click({ timeout: 300 });`,
      many: `await page.goto(url);\n  await page.getByRole('button').click({ timeout: 1000 });`, hidden: `await page.goto(url);\n  await page.locator('title').click({ timeout: 3000 });` };
    const plain = await recovered(version, bodies, { start: {} });
    const asking = await recovered(version, bodies, { answer: () => ({}) });
    const told = attempt => Object.fromEntries(Object.entries(attempt.ends).map(([title, { status, errors }]) => [title, { status, errors: errors.map(({ message, stack, location, snippet }) =>
      ({ message: times(message), stack: times(stack)?.replaceAll(/tas-runner-\w+/g, ''), location, snippet })) }]));
    // How often it tried in the same time is not always the same.
    const times = text => text?.replaceAll(/\d+ × /g, 'N × ').replaceAll(/\n[^\n]*(?:waiting \d+ms|retrying|N × )[^\n]*/g, '');
    assert.deepEqual(told(asking), told(plain), asking.log);
    assert.deepEqual(Object.values(asking.ends).map(({ recovered }) => recovered), Array(6).fill(undefined));
    assert.deepEqual(['gone', 'short', 'late', 'bad', 'many', 'hidden'].map(title => asking.asks(title).length), [1, 1, 0, 0, 0, 0]);
  });
}

for (const version of new Set([versions[0], versions.at(-1)])) {
  test(`${version}: never after the application failed, never an assertion, never what is expected to fail, three at most`, async () => {
    const press = `await page.getByTestId('old').click({ timeout: 1500 });`;
    const attempt = await recovered(version, {
      'ill': `await page.goto(url + '?ill'); await page.waitForTimeout(300); ${press}`,
      'checks': `await page.goto(url); await expect(page.getByTestId('old')).toBeVisible({ timeout: 400 });`,
      'asks': `await page.goto(url); if (await page.getByTestId('old').isVisible() || await page.getByTestId('old').count()) throw new Error('x'); await page.getByTestId('old').waitFor({ timeout: 400 });`,
      'fails': `test.fail(); await page.goto(url); ${press}`,
      'many': `await page.goto(url); ${press} ${press} ${press} await expect(page.getByRole('status')).toHaveText('bought bought bought'); ${press}`,
      'loops': `await page.goto(url); for (let i = 0; i < 3; i++) ${press}`,
    });
    const status = title => attempt.ends[title].status;
    assert.deepEqual(['ill', 'checks', 'asks', 'fails', 'many', 'loops'].map(status), ['failed', 'failed', 'failed', 'failed', 'failed', 'passed'], said(attempt));
    assert.deepEqual(['ill', 'checks', 'asks', 'fails', 'many', 'loops'].map(title => attempt.asks(title).length), [0, 0, 0, 0, 3, 3]);
    assert.match(attempt.ends.ill.errors[0].message, /Timeout 1500ms exceeded/);
    assert.equal(attempt.ends.many.recovered.length, 3);
    assert.deepEqual(attempt.asks('loops').map(({ earlier }) => earlier.length), [0, 1, 2]);
    assert.equal(attempt.ends.fails.expectedStatus, 'failed');
  });

  test(`${version}: an answer that is late, wrong or not needed any more changes nothing`, async () => {
    const attempt = await recovered(version, {
      'slow': old, 'wrong': old, 'several': old, 'nonsense': old,
      'comes': `await page.goto(url + '?late=6000'); await page.getByTestId('old').click({ timeout: 15000 }); ${bought}`,
      'seven': `await page.goto(url + '?late=7000'); await page.getByTestId('old').click(); ${bought}`,
      'fails': `await page.goto(url); await page.getByTestId('old').fill('x', { timeout: 1000 });`,
    }, { answer: async (ask, attempt) => {
      const { title } = attempt.tests.find(({ id }) => id === ask.test);
      switch (title) {
        case 'slow': await new Promise(resolve => setTimeout(resolve, 3000)); return found;
        case 'wrong': return { ...found, locator: `getByTestId('nothing')` };
        case 'several': return { ...found, locator: `getByRole('button')` };
        case 'nonsense': return { ...found, locator: `page.evaluate(() => 1` };
        case 'comes': await new Promise(resolve => setTimeout(resolve, 1700)); return found;
        case 'seven': return {};
        default: return found;
      }
    } });
    const status = Object.fromEntries(Object.entries(attempt.ends).map(([title, { status }]) => [title, status]));
    assert.deepEqual(status, { slow: 'failed', wrong: 'failed', several: 'failed', nonsense: 'failed', comes: 'passed', seven: 'passed', fails: 'failed' }, said(attempt));
    for (const [title, end] of Object.entries(attempt.ends)) {
      assert.equal(end.recovered, undefined, title);
      if (end.status === 'failed')
        assert.match(end.errors[0].message, /Timeout 1000ms exceeded[^]*waiting for getByTestId\('old'\)/, title);
    }
    assert.equal(attempt.asks('seven').length, 1);
  });
}

test('a trial recovers nothing, and what happened on the way is told with the question', async () => {
  const trial = await recovered(newest, { gone: old }, { start: { recover: true, trial: { repeat: 1 } } });
  assert.deepEqual([trial.ends.gone.status, trial.all('recover').length], ['failed', 0]);
  const odd = await recovered(newest, { odd: `await page.goto(url + '?odd'); await page.waitForTimeout(300); await page.getByTestId('old').click({ timeout: 500 });` });
  const [ask] = odd.asks('odd');
  assert.deepEqual([ask.failed, ask.uncaught], [[{ method: 'GET', path: 'loopback/gone/{}', status: 404 }], 1]);
});

test('set-up that runs alone is recovered, too', async () => {
  const config = `export default { projects: [{ name: 'prepare', testMatch: 'a.spec.ts' }, { name: 'main', testMatch: 'b.spec.ts', dependencies: ['prepare'] }] };`;
  for (const version of new Set([versions[0], versions.at(-1)])) {
    const repository = makeRepository({ 'playwright.config.ts': config, 'a.spec.ts': `import { test } from '@playwright/test';\ntest('prepares', async ({ page }) => {\n${old.replace('url', 'process.env.SHOP!')}\n});`,
      'b.spec.ts': `import { test } from '@playwright/test';\ntest('follows', () => {});` }, version);
    const attempt = new Attempt(repository, { recover: true }, { SHOP: url });
    attempt.on(message => message.type === 'recover' && attempt.send({ type: 'answer', id: message.id, ...found }));
    await attempt.select(attempt => ({ include: [attempt.id('prepare', 'prepares')] }));
    await attempt.wait('bye');
    assert.deepEqual(attempt.all('testEnd').map(({ status, recovered }) => [status, recovered?.length]), [['passed', 1]], attempt.log);
  }
});
