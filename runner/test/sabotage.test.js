// A good test fails when the application breaks at the step that it is about; a blind one passes all the same.
const { test, before, after } = require('node:test');
const assert = require('node:assert/strict');
const http = require('http');
const { makeRepository, run, versions, newest } = require('./attempt');

// An application as they are made: it draws everything anew with each change, and twice a second without one.
const page = `<title>Shop</title><div id="app"></div><a href="/about">About</a><script>
let count = 0, error = '', note = '';
const app = document.getElementById('app');
function draw() {
  const focused = document.activeElement?.id;
  app.innerHTML = '<h1>Basket</h1><p data-testid="count">' + count + ' in basket</p>' + (error ? '<p role="alert">' + error + '</p>' : '') +
    '<button id="add">Add</button><button id="other">Other</button><form><input id="note" placeholder="Note"><button>Save</button></form><p data-testid="note">' + note + '</p>' +
    '<ul>' + ['Mug', 'Cup'].map(name => '<li>' + name + ' <button>Drop</button></li>').join('') + '</ul>';
  document.getElementById('add').addEventListener('click', async () => {
    const answer = await fetch('/api/basket/4711', { method: 'POST' });
    if (answer.ok) count = (await answer.json()).count; else error = 'It failed';
    draw();
  });
  const input = document.getElementById('note');
  input.addEventListener('input', () => app.typed = input.value);
  input.value = app.typed || '';
  app.querySelector('form').addEventListener('submit', event => { event.preventDefault(); note = app.typed || ''; draw(); });
  if (focused) document.getElementById(focused)?.focus();
}
draw();
// Not while the button of the mouse is down: a click whose element is drawn anew in its middle is none.
let held = false;
addEventListener('pointerdown', () => held = true, true);
addEventListener('pointerup', () => held = false, true);
setInterval(() => held || draw(), 500);
</script>`;

let server, url;
before(async () => {
  let count = 0;
  server = http.createServer((request, response) => {
    if (request.url.startsWith('/api/')) {
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ count: request.method === 'POST' ? 1 : count }));
    }
    response.setHeader('content-type', 'text/html');
    response.end(request.url === '/about' ? '<h1>About us</h1>' : page);
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${server.address().port}/`;
});
after(() => server.close());

const add = 'internal:role=button[name="Add"i]';
const count = 'internal:testid=[data-testid="count"s]';
const click = { method: 'click', selector: add, turn: 0, limitMs: 1500 };
const good = `test('good', async ({ page }) => {
  await page.goto(process.env.SHOP!);
  await page.getByRole('button', { name: 'Add' }).click();
  await expect(page.getByTestId('count')).toHaveText('1 in basket');
});`;
const blind = `test('blind', async ({ page }) => {
  await page.goto(process.env.SHOP!);
  if (await page.getByRole('button', { name: 'Add' }).count())
    await page.getByRole('button', { name: 'Add' }).click({ timeout: 1000 }).catch(() => {});
  await expect(page.getByRole('heading')).toHaveText('Basket');
});`;

/** status and whether it was done, of each repetition of each test. */
async function sabotaged(version, tests, sabotage, more = {}) {
  const attempt = await run(makeRepository({ 'a.spec.ts': `import { test, expect } from '@playwright/test';\n${tests}`, ...more }, version), { all: true }, { trial: { sabotage } }, { SHOP: url });
  const out = {};
  for (const end of attempt.all('testEnd')) {
    const { title, repeatEachIndex } = attempt.tests.find(test => test.id === end.id);
    (out[title] ??= [])[repeatEachIndex] = `${end.status}${end.sabotaged ? ' sabotaged' : ''}`;
    assert.equal(end.retry, 0);
  }
  out.attempt = attempt;
  return out;
}

for (const version of versions) {
  test(`${version}: each kind kills a good test, a blind one survives it`, async () => {
    const kinds = [{ kind: 'remove', ...click }, { kind: 'handler', ...click }, { kind: 'request', ...click, calls: [{ method: 'POST', path: 'loopback/api/basket/{}' }] }, { kind: 'request', ...click },
      { kind: 'rival', ...click, rival: `getByRole('button', { name: 'Other' })` }, {}];
    const killed = ['failed sabotaged', 'failed sabotaged', 'failed sabotaged', 'failed sabotaged', 'failed sabotaged', 'passed'];
    const got = await sabotaged(version, `${good}\n${blind}`, kinds);
    assert.deepEqual(got.good, killed, got.attempt.log);
    assert.deepEqual(got.blind, killed.map(status => status.replace('failed', 'passed')), got.attempt.log);
    const text = { kind: 'text', method: 'expect', selector: count, turn: 0, limitMs: 1500 };
    const other = await sabotaged(version, `${good}\ntest('blind', async ({ page }) => {
      await page.goto(process.env.SHOP!); await page.getByRole('button', { name: 'Add' }).click(); await expect(page.getByTestId('count')).toHaveText(/in|jo/); await page.waitForTimeout(1500);
      await expect(page.getByTestId('count')).toHaveText(/jo cbtlfu/);
    });`, [text, { kind: 'remove', ...text, kind: 'remove' }]);
    assert.deepEqual(other.good, ['failed sabotaged', 'failed sabotaged'], other.attempt.log);
    assert.equal(other.blind[0], 'passed sabotaged', 'it is altered as often as it is drawn');
  });
}

for (const version of [versions[0], newest]) {
  test(`${version}: it happens at its step and nowhere else, and says so only if it happened`, async () => {
    const tests = `test('twice', async ({ page }) => {
  await page.goto(process.env.SHOP!);
  await page.getByRole('button', { name: 'Add' }).click();
  await expect(page.getByTestId('count')).toHaveText('1 in basket');
  test.info().annotations.push({ type: 'came', description: 'this far' });
  await page.getByRole('button', { name: 'Add' }).click();
  await expect(page.getByRole('alert')).toHaveCount(0);
});`;
    const got = await sabotaged(version, tests, [
      { kind: 'remove', ...click, turn: 1 }, { kind: 'remove', ...click, turn: 2 }, { kind: 'remove', ...click, method: 'fill' }, { kind: 'remove', ...click, selector: 'internal:role=button[name="None"i]' },
      { kind: 'request', ...click, calls: [{ method: 'DELETE', path: 'loopback/api/basket/{}' }] }, { kind: 'rival', ...click, rival: 'internal:role=button[name="None"i]' },
      { kind: 'remove', ...click, method: 'expect', selector: 'internal:role=alert' }, { kind: 'nonsense', ...click },
    ]);
    assert.deepEqual(got.twice, ['failed sabotaged', ...Array(7).fill('passed')], got.attempt.log);
    const [failed] = got.attempt.all('testEnd').filter(end => end.status === 'failed');
    assert.deepEqual(failed.annotations, [{ type: 'came', description: 'this far' }]);
    assert.match(failed.errors[0].message, /1500ms exceeded/, 'a step waits no longer than it may');
  });

  test(`${version}: forms, links, values and other documents`, async () => {
    const fill = { method: 'fill', selector: 'internal:attr=[placeholder="Note"i]', limitMs: 1500 };
    const note = `test('note', async ({ page }) => {
  await page.goto(process.env.SHOP!);
  await page.getByPlaceholder('Note').fill('hello');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByTestId('note')).toHaveText('hello');
});`;
    const save = { method: 'click', selector: 'internal:role=button[name="Save"i]', limitMs: 1500 };
    const notes = await sabotaged(version, note, [{ kind: 'handler', ...fill }, { kind: 'handler', ...save }, { kind: 'remove', ...fill }, { kind: 'rival', ...save, rival: 'css=#other' }]);
    assert.deepEqual(notes.note, Array(4).fill('failed sabotaged'), notes.attempt.log);
    const link = { method: 'click', selector: 'internal:role=link[name="About"i]', limitMs: 1500 };
    const about = `test('about', async ({ page }) => { await page.goto(process.env.SHOP!); await page.getByRole('link', { name: 'About' }).click(); await page.waitForURL('**/about'); });
test('hears', async ({ page }) => { await page.goto(process.env.SHOP!); await page.getByRole('link', { name: 'About' }).click(); await page.waitForResponse('**/nothing', test.info().repeatEachIndex > 1 ? { timeout: 1 } : {}).catch(error => { if (test.info().repeatEachIndex < 2) throw error; }); });
test('reloads', async ({ page }) => {
  test.skip(test.info().repeatEachIndex !== 1);
  await page.goto(process.env.SHOP!); await page.getByRole('link', { name: 'About' }).click({ trial: true }).catch(() => {});
  await page.reload(); await expect(page.getByRole('heading')).toBeVisible(); await expect(page.getByRole('link')).toHaveCount(0); await page.waitForTimeout(700); await expect(page.getByRole('link')).toHaveCount(0);
});
test('fields', async ({ page }) => {
  await page.setContent('<input type=checkbox aria-label=a><select aria-label=b><option>1<option>2</select><input aria-label=c value=old>');
  if (test.info().repeatEachIndex === 2) { await page.getByLabel('a').check({ timeout: 900 }).catch(() => {}); await expect(page.getByLabel('a')).not.toBeChecked(); }
  if (test.info().repeatEachIndex === 3) { await page.getByLabel('b').selectOption('2'); await expect(page.getByLabel('b')).toHaveValue('1'); }
  if (test.info().repeatEachIndex === 4) { await expect(page.getByLabel('c')).toHaveValue('pme'); }
});`;
    const label = name => `internal:label="${name}"i`;
    const links = await sabotaged(version, about, [{ kind: 'handler', ...link }, { kind: 'remove', ...link }, { kind: 'handler', method: 'check', selector: label('a') }, { kind: 'handler', method: 'selectOption', selector: label('b') },
      { kind: 'text', method: 'expect', selector: label('c') }]);
    links.attempt.all('testEnd').flatMap(end => end.errors).forEach(error => assert.doesNotMatch(error.message, /NaN|undefined/));
    assert.deepEqual(links.about, ['failed sabotaged', 'failed sabotaged', 'passed', 'passed', 'passed'], links.attempt.log);
    assert.match(links.attempt.all('testEnd')[0].errors[0].message, /Timeout 1500ms/);
    assert.match(links.attempt.all('testEnd').find(end => links.attempt.tests.some(test => test.id === end.id && test.title === 'hears' && test.repeatEachIndex === 0)).errors[0].message, /Timeout 1500ms/);
    assert.equal(links.reloads[1], 'passed sabotaged', 'what is gone stays gone in the next document');
    assert.deepEqual(links.fields.slice(2), ['passed sabotaged', 'passed sabotaged', 'passed sabotaged'], JSON.stringify(links.attempt.all('testEnd').flatMap(end => end.errors)));
  });
}

test('what the tests start knows nothing of it, and neither do the reports', async () => {
  const got = await sabotaged(newest, `import { execFileSync, fork } from 'child_process';
test('clean', async ({ page }) => {
  expect(JSON.stringify(process.env) + process.execArgv.join()).not.toMatch(/sabot/i);
  expect(String(execFileSync(process.execPath, ['-p', 'JSON.stringify(process.env)']))).not.toMatch(/sabot/i);
  await page.goto(process.env.SHOP!);
  await page.getByRole('button', { name: 'Add' }).click();
});`, [{ kind: 'remove', ...click }, {}]);
  assert.deepEqual(got.clean, ['failed sabotaged', 'passed'], got.attempt.log + JSON.stringify(got.attempt.all('testEnd').flatMap(end => end.errors)));
  assert.deepEqual(got.attempt.all('step').filter(step => /route|evaluate|init script/i.test(step.title)), []);
});

test('what is in a frame is found, too', async () => {
  const got = await sabotaged(newest, `test('framed', async ({ page }) => {
  await page.setContent('<iframe srcdoc="<button onclick=\\'this.textContent=1\\'>In</button>"></iframe>');
  await page.frameLocator('iframe').getByRole('button').click();
  await expect(page.frameLocator('iframe').getByRole('button')).toHaveText('1');
});`, ['remove', 'handler'].map(kind => ({ kind, method: 'click', selector: 'iframe >> internal:control=enter-frame >> internal:role=button', limitMs: 1500 })));
  assert.deepEqual(got.framed, ['failed sabotaged', 'failed sabotaged'], got.attempt.log);
});
