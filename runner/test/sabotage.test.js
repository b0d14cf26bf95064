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
setInterval(draw, 500);
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
