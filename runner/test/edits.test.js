// A trial's edits: made together before anything is loaded, told as one patch that git takes.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { changed, unified } = require('../dist/diff');
const { Attempt, makeRepository, run, versions, newest } = require('./attempt');

/** What git makes of a text with a patch. */
function applied(name, text, patch) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'tas-diff-'));
  try {
    fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    fs.writeFileSync(path.join(dir, name), text);
    execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: dir, input: patch, stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, GIT_CEILING_DIRECTORIES: os.tmpdir() } });
    return fs.readFileSync(path.join(dir, name), 'utf8');
  } finally {
    fs.rmSync(dir, { recursive: true });
  }
}

test('git reads a diff as it was meant, wherever the changes are', () => {
  let seed = 7;
  const below = n => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  for (let round = 0; round < 150; round++) {
    const lines = Array.from({ length: 1 + below(30) }, () => ['', 'a', 'bb\r', 'x'.repeat(below(9)), '-- a/b', '+++ c'][below(6)]);
    const text = lines.join('\n') + ['', '\n'][below(2)];
    const cuts = Array.from({ length: 2 * (1 + below(4)) }, () => below(text.length + 1)).sort((a, b) => a - b);
    const changes = [];
    for (let i = 0; i < cuts.length; i += 2) {
      const change = { start: cuts[i], end: cuts[i + 1], after: ['', 'new', 'two\nlines', 'q\n'][below(4)] };
      if (text.slice(change.start, change.end) !== change.after)
        changes.push(change);
    }
    const now = changed(text, changes);
    if (now !== text && text && now)
      assert.equal(applied('a/b.ts', text, unified('a/b.ts', text, changes)), now, JSON.stringify({ text, changes }));
  }
});

const spec = `import { test, expect } from '@playwright/test';
import { Shop } from './pages/shop';

test('buys', async ({ page }) => {
  await page.setContent('<button data-testid="order">Order</button><i data-testid="sum">1</i><input data-testid="word"><b data-testid="done">ok</b>');
  await page.getByTestId('buy').click(); await expect(page.getByTestId('total')).toHaveText('1');
  await page
    .getByTestId('note')
    .fill('x');
  //
  //
  //
  //
  //
  //
  //
  //
  const shop = new Shop(page); await expect(shop.done).toHaveText('ok');
});`;
const shop = `import type { Page } from '@playwright/test';
export class Shop { readonly done; constructor(page: Page) { this.done = page.getByTestId('ready'); } }
`;
const files = { 'a.spec.ts': spec, 'pages/shop.ts': shop };
const at = (line, word, file = 'a.spec.ts') => ({ file, line, column: spec.split('\n')[line - 1].indexOf(word) + 1 });
const orders = [
  { stack: [at(18, 'toHaveText')], locator: `getByTestId('ready')`, part: 0, replacement: `getByTestId('done')` },
  { stack: [at(6, 'toHaveText')], locator: `getByTestId('total')`, part: 0, replacement: `getByTestId('sum')` },
  { stack: [at(6, 'click')], locator: `getByTestId('buy')`, part: 0, replacement: `getByRole('button', { name: 'Order' })` },
  { stack: [at(6, 'click')], locator: `getByTestId('buy')`, part: 0, replacement: `getByRole('button', { name: 'Order' })` },
  { stack: [at(9, 'fill')], locator: `getByTestId('note')`, part: 0, replacement: `getByTestId('word')` },
];

for (const version of versions) {
  test(`${version}: all edits are made at once and run`, async () => {
    const repository = makeRepository(files, version);
    const attempt = await run(repository, { all: true }, { trial: { edits: orders, repeat: 2 } });
    const { edits, patch, offences } = await attempt.wait('edited');
    assert.deepEqual(offences, []);
    assert.deepEqual(edits.map(({ file, line, column, before, after }) => [file, line, column, before, after].join(' ')), [
      `pages/shop.ts 2 ${shop.split('\n')[1].indexOf(`'ready'`) + 1} 'ready' 'done'`, `a.spec.ts 6 72 'total' 'sum'`, `a.spec.ts 6 14 getByTestId('buy') getByRole('button', { name: 'Order' })`,
      `a.spec.ts 6 14 getByTestId('buy') getByRole('button', { name: 'Order' })`, `a.spec.ts 8 18 'note' 'word'`,
    ]);
    assert.equal(attempt.all('edited').length, 1);
    assert.deepEqual(attempt.ran(), { buys: 'passed' });
    assert.equal(attempt.all('testEnd').length, 2);
    const written = name => fs.readFileSync(path.join(repository, name), 'utf8');
    for (const name of ['a.spec.ts', 'pages/shop.ts']) {
      const own = patch.split(/^(?=diff --git )/m).find(part => part.includes(`b/${name}\n`));
      assert.equal(applied(name, files[name], own), written(name));
    }
    assert.equal(written('a.spec.ts').split('\n')[5], `  await page.getByRole('button', { name: 'Order' }).click(); await expect(page.getByTestId('sum')).toHaveText('1');`);
    const order = attempt.messages.map(message => message.type);
    assert.ok(order.indexOf('hello') < order.indexOf('edited') && order.indexOf('edited') < order.indexOf('suite'));
  });
}

test('where one edit cannot be made none is, and nothing runs', async () => {
  const refused = {
    'no-segment': { ...orders[1], locator: `getByText('other')`, replacement: `getByText('x')` },
    'ambiguous': { ...orders[1], replacement: `getByTestId('another')` },
    'no-source': { ...orders[1], stack: [{ file: '../out.ts', line: 1, column: 1 }] },
  };
  for (const [code, order] of Object.entries(refused)) {
    const repository = makeRepository(files);
    const attempt = new Attempt(repository, { trial: { edits: [orders[1], orders[2], order] } });
    const failed = await attempt.wait('failed');
    assert.equal(failed.code, 'edit');
    await attempt.wait('bye');
    await attempt.exit;
    const { edits, patch } = await attempt.wait('edited');
    assert.deepEqual(edits.map(edit => edit.code), [undefined, undefined, code], JSON.stringify(edits));
    assert.equal(patch, '');
    assert.equal(fs.readFileSync(path.join(repository, 'a.spec.ts'), 'utf8'), spec);
    assert.deepEqual(attempt.all('suite'), []);
  }
});

test('an edit that a repair must not make is not made', async () => {
  const source = `import { test } from '@playwright/test';\ntest('x', async ({ page }) => {\n  await page.getByRole('list').getByText('x').click();\n});\n`;
  const repository = makeRepository({ 'a.spec.ts': source });
  const attempt = new Attempt(repository, { trial: { edits: [{ stack: [{ file: 'a.spec.ts', line: 3, column: 47 }], locator: `getByRole('list').getByText('x')`, part: 1, replacement: 'first()' }] } });
  const failed = await attempt.wait('failed');
  assert.equal(failed.code, 'edit');
  const [offence] = (await attempt.wait('edited')).offences;
  assert.deepEqual({ ...offence, message: '' }, { rule: 'positional', file: 'a.spec.ts', line: 3, message: '' });
  await attempt.exit;
  assert.equal(fs.readFileSync(path.join(repository, 'a.spec.ts'), 'utf8'), source);
});
