// A trial's rewrites are exact, held to the rules of repairs, and made nowhere but in the tests' own source.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { spawnSync } = require('child_process');
const { Attempt, makeRepository, run, versions } = require('./attempt');
const { differences, unified } = require('../dist/diff');

/** What git makes of a text with a diff. */
function applied(name, text, patch) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'rewrites-'));
  try {
    fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    fs.writeFileSync(path.join(dir, name), text);
    const { status, stderr } = spawnSync('git', ['apply', '--unidiff-zero', '-'], { cwd: dir, input: patch, encoding: 'utf8' });
    assert.equal(status, 0, stderr + patch);
    return fs.readFileSync(path.join(dir, name), 'utf8');
  } finally {
    fs.rmSync(dir, { recursive: true });
  }
}

test('the differences of two texts make one of the other, in as few lines as there are', () => {
  let seed = 11;
  const below = n => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const some = () => Array.from({ length: below(12) }, () => ['', 'a', 'b', 'c\r', '-- x'][below(5)]).join('\n') + ['', '\n'][below(2)];
  for (let round = 0; round < 150; round++) {
    const [was, now] = [some(), some()];
    if (was && now && was !== now)
      assert.equal(applied('a.ts', was, unified('a.ts', was, differences(was, now))), now, JSON.stringify({ was, now }));
  }
  const patch = unified('a.ts', 'a\nb\nc\nd\n', differences('a\nb\nc\nd\n', 'a\nnew\nb\nc\n'));
  assert.deepEqual(patch.split('\n').filter(line => /^[-+](?![-+])/.test(line)), ['+new', '-d']);
  assert.deepEqual(differences('same\n', 'same\n'), []);
});

const spec = `import { test, expect } from '@playwright/test';
import { Shop } from './pages/shop';
test('buys', async ({ page }) => {
  await page.setContent('<button onclick="next.hidden = false">Order</button><button id=next hidden onclick="done.textContent = 1">Next</button><b id=done></b>');
  await page.getByTestId('buy').click();
  await expect(new Shop(page).done()).toHaveText('1');
});
`;
const shop = `import type { Page } from '@playwright/test';
export class Shop {
  constructor(private page: Page) {}
  done() { return this.page.getByTestId('done'); }
}
`;
const files = { 'a.spec.ts': spec, 'pages/shop.ts': shop, 'playwright.config.ts': 'export default {};\n', '.auth/state.ts': 'x\n', 'notes.txt': 'x\n' };
const rewrites = [
  { file: 'a.spec.ts', before: `page.getByTestId('buy').click();`, after: `page.getByText('Order').click();` },
  { file: 'a.spec.ts', before: `getByText('Order').click();\n`, after: `getByText('Order').click();\n  await page.getByRole('button', { name: 'Next' }).click();\n` },
  { file: 'pages/shop.ts', before: `getByTestId('done')`, after: `locator('#done')` },
];

for (const version of versions) {
  test(`${version}: all rewrites are made, one upon the other, and run`, async () => {
    const repository = makeRepository(files, version);
    const attempt = await run(repository, { all: true }, { trial: { rewrites } });
    const { edits, patch, offences } = await attempt.wait('edited');
    assert.deepEqual(offences, []);
    assert.deepEqual(edits.map(({ file, line, column, after }) => [file, line, column, after].join('|')), [`a.spec.ts|5|9|${rewrites[0].after}`, `a.spec.ts|5|14|${rewrites[1].after}`, `pages/shop.ts|4|29|locator('#done')`]);
    assert.deepEqual(attempt.ran(), { buys: 'passed' });
    for (const name of ['a.spec.ts', 'pages/shop.ts']) {
      const own = patch.split(/^(?=diff --git )/m).find(part => part.includes(`b/${name}\n`));
      assert.equal(applied(name, files[name], own), fs.readFileSync(path.join(repository, name), 'utf8'));
    }
  });
}

test('where one rewrite cannot be made none is, and nothing runs', async () => {
  const outside = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'outside-')), 'b.ts');
  fs.writeFileSync(outside, 'x\n');
  for (const [code, order] of [
    ['no-segment', { file: 'a.spec.ts', before: 'not there', after: 'x' }], ['no-segment', { file: 'a.spec.ts', before: '', after: 'x' }], ['ambiguous', { file: 'a.spec.ts', before: 'page', after: 'x' }],
    ...['../b.ts', outside, 'pages/../a.spec.ts', './a.spec.ts', 'playwright.config.ts', '.auth/state.ts', 'node_modules/x/a.ts', 'notes.txt', 'package.json', 'gone.ts', 'linked.ts', 'there/b.ts', '', 7].map(file => ['no-source', { file, before: 'x', after: 'y' }]),
  ]) {
    const repository = makeRepository(files);
    fs.symlinkSync(outside, path.join(repository, 'linked.ts'));
    fs.symlinkSync(path.dirname(outside), path.join(repository, 'there'));
    const attempt = new Attempt(repository, { trial: { rewrites: [rewrites[0], order] } });
    assert.equal((await attempt.wait('failed')).code, 'edit');
    await attempt.wait('bye');
    await attempt.exit;
    const { edits, patch } = await attempt.wait('edited');
    assert.deepEqual(edits.map(edit => edit.code && (edit.code === 'failed' ? 'no-source' : edit.code)), [undefined, code], JSON.stringify(edits));
    assert.equal(patch, '');
    assert.equal(fs.readFileSync(path.join(repository, 'a.spec.ts'), 'utf8'), spec);
    assert.equal(fs.readFileSync(outside, 'utf8'), 'x\n');
    assert.deepEqual(attempt.all('suite'), []);
  }
});

test('a rewrite that a repair must not make is not made', async () => {
  for (const [rule, after] of [['positional', `await page.getByRole('button').first().click();`], ['action-removed', ''], ['sleep', `await page.waitForTimeout(1000); await page.getByTestId('buy').click();`],
    ['swallowed', `try { await page.getByTestId('buy').click(); } catch {}`], ['test-disabled', `test.skip(); await page.getByTestId('buy').click();`], ['timeout', `await page.getByTestId('buy').click({ timeout: 60000 });`]]) {
    const repository = makeRepository(files);
    const attempt = new Attempt(repository, { trial: { rewrites: [{ file: 'a.spec.ts', before: `await page.getByTestId('buy').click();`, after }] } });
    assert.equal((await attempt.wait('failed')).code, 'edit');
    const { offences } = await attempt.wait('edited');
    assert.ok(offences.some(offence => offence.rule === rule && offence.file === 'a.spec.ts' && offence.line === 5), JSON.stringify(offences));
    await attempt.exit;
    assert.equal(fs.readFileSync(path.join(repository, 'a.spec.ts'), 'utf8'), spec);
  }
});

test('a trial has edits or rewrites', async () => {
  const repository = makeRepository(files);
  const attempt = new Attempt(repository, { trial: { rewrites, edits: [{ stack: [], locator: `getByText('x')`, part: 0, replacement: `getByText('y')` }] } });
  assert.equal((await attempt.wait('failed')).code, 'edit');
  await attempt.exit;
  assert.equal(fs.readFileSync(path.join(repository, 'a.spec.ts'), 'utf8'), spec);
});
