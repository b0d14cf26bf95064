// The smallest edit of a locator in the tests' source, with the parsers of three versions of Playwright.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { findPlaywright } = require('../dist/playwright');
const { edit } = require('../dist/edit');
const { NotFound } = require('../dist/source');

const versions = fs.readdirSync(path.join(__dirname, 'versions')).filter(v => /^\d/.test(v)).map(v => findPlaywright(path.join(__dirname, 'versions', v)));

/** Files whose bullets mark the places of the stack, innermost first by their number: •1 … */
function repository(files) {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'tas-edit-')));
  const stack = [];
  for (const [name, marked] of Object.entries(files)) {
    let text = marked;
    for (let m; (m = /•(\d)/.exec(text));) {
      const before = text.slice(0, m.index);
      stack[Number(m[1]) - 1] = { file: path.join(root, name), line: before.split('\n').length, column: m.index - before.lastIndexOf('\n') };
      text = before + text.slice(m.index + m[0].length);
    }
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
  return { root, stack };
}

/** The line of the diff that goes and the one that comes, once git has taken the patch. */
function repaired(files, order, playwright = versions[versions.length - 1]) {
  const { root, stack } = repository(files);
  const got = edit(playwright, root, { stack, part: 0, ...order });
  fs.writeFileSync(path.join(root, 'x.patch'), got.patch);
  execFileSync('git', ['apply', '--check', '--verbose', 'x.patch'], { cwd: root, stdio: 'pipe' });
  execFileSync('git', ['apply', 'x.patch'], { cwd: root });
  const text = fs.readFileSync(path.join(root, got.file), 'utf8');
  const lines = got.patch.split('\n').filter(l => /^[-+](?![-+])/.test(l)).map(l => l[0] + l.slice(1).trim());
  fs.rmSync(root, { recursive: true });
  assert.equal(text.split('\n')[got.line - 1].slice(got.column - 1, got.column - 1 + got.after.length), got.after.split('\n')[0]);
  return { file: got.file, lines };
}

const spec = body => `import { test, expect } from '@playwright/test';\nimport { Basket, ids } from '../pages/basket';\nconst save = 'save-button';\n\ntest('buys', async ({ page, basket }) => {\n${body}\n});\n`;
const pages = `import type { Page, Locator } from '@playwright/test';
export const ids = { drop: 'drop-line', 'two words': "x" } as const;
const HINT: string = \`Search the shop\`;
export class Base { protected readonly page: Page; constructor(page: Page) { this.page = page; } get heading() { return this.page.getByRole('heading', { name: "Basket" }); } }
export class Basket extends Base {
  readonly total: Locator;
  private hint = this.page.getByPlaceholder(HINT);
  constructor(page: Page) { super(page); this.total = page.getByTestId('total'); }
  row(name: string) { return this.page.getByRole('listitem').filter({ hasText: name }); }
  async drop(name: string) { await this.row(name).getByTestId(ids.drop).•1click(); }
  async search(text: string) { await this.hint!.fill(text); }
}
`;
const plain = pages.replace('•1', '');

const cases = {
  'a literal': [{ 'tests/a.spec.ts': spec(`  await page.getByTestId('buy').•1click(); // buy`) }, { locator: `getByTestId('buy')`, replacement: `getByTestId('buy-now')` },
    'tests/a.spec.ts', [`-await page.getByTestId('buy').click(); // buy`, `+await page.getByTestId('buy-now').click(); // buy`]],
  'in its own quotes': [{ 'tests/a.spec.ts': spec('  await page.getByText("Buy").•1click();') }, { locator: `getByText('Buy')`, replacement: `getByText('Say "buy"\\\\')` },
    'tests/a.spec.ts', ['-await page.getByText("Buy").click();', '+await page.getByText("Say \\"buy\\"\\\\").click();']],
  'an option': [{ 'tests/a.spec.ts': spec(`  await page.getByRole('button', { exact: true, name: 'Buy' }).•1click();`) }, { locator: `getByRole('button', { name: 'Buy', exact: true })`, replacement: `getByRole('button', { name: 'Order', exact: true })` },
    'tests/a.spec.ts', [`-await page.getByRole('button', { exact: true, name: 'Buy' }).click();`, `+await page.getByRole('button', { exact: true, name: 'Order' }).click();`]],
  'another strategy': [{ 'tests/a.spec.ts': spec(`  await page.locator('#buy').•1click();`) }, { locator: `locator('#buy')`, replacement: `getByRole('button', { name: 'Buy' })` },
    'tests/a.spec.ts', [`-await page.locator('#buy').click();`, `+await page.getByRole('button', { name: 'Buy' }).click();`]],
  'one part of a chain': [{ 'tests/a.spec.ts': spec(`  await page.getByRole('article').first().getByTestId('buy').•1click();`) }, { locator: `getByRole('article').first().getByTestId('buy')`, part: 2, replacement: `getByTestId('order')` },
    'tests/a.spec.ts', [`-await page.getByRole('article').first().getByTestId('buy').click();`, `+await page.getByRole('article').first().getByTestId('order').click();`]],
  'two parts at once': [{ 'tests/a.spec.ts': spec(`  await page.getByRole('region')\n    .getByTestId('buy').•1click();`) }, { locator: `getByRole('region').getByTestId('buy')`, part: 0, through: 1, replacement: `getByRole('form').getByTestId('order')` },
    'tests/a.spec.ts', [`-await page.getByRole('region')`, `-.getByTestId('buy').click();`, `+await page.getByRole('form').getByTestId('order').click();`]],
  'one part for another in what is around it': [{ 'tests/a.spec.ts': spec(`  await page.getByText('Buy').•1click();`) }, { locator: `getByText('Buy')`, replacement: `getByRole('main').getByText('Buy')` },
    'tests/a.spec.ts', [`-await page.getByText('Buy').click();`, `+await page.getByRole('main').getByText('Buy').click();`]],
  'over several lines': [{ 'tests/a.spec.ts': spec(`  await page\n    .getByRole('article')\n    .getByTestId('buy')\n    .•1click();`) }, { locator: `getByRole('article').getByTestId('buy')`, part: 1, replacement: `getByTestId('order')` },
    'tests/a.spec.ts', [`-.getByTestId('buy')`, `+.getByTestId('order')`]],
  'what is checked': [{ 'tests/a.spec.ts': spec(`  await expect.soft(page.getByTestId('buy')).not.•1toBeVisible();`) }, { locator: `getByTestId('buy')`, replacement: `getByTestId('order')` },
    'tests/a.spec.ts', [`-await expect.soft(page.getByTestId('buy')).not.toBeVisible();`, `+await expect.soft(page.getByTestId('order')).not.toBeVisible();`]],
  'a constant locator': [{ 'tests/a.spec.ts': spec(`  const buy = page.getByTestId('buy');\n  await buy.•1click();`) }, { locator: `getByTestId('buy')`, replacement: `getByTestId('order')` },
    'tests/a.spec.ts', [`-const buy = page.getByTestId('buy');`, `+const buy = page.getByTestId('order');`]],
  'a constant text': [{ 'tests/a.spec.ts': spec(`  await page.getByTestId(save).•1click();`) }, { locator: `getByTestId('save-button')`, replacement: `getByTestId('save')` },
    'tests/a.spec.ts', [`-const save = 'save-button';`, `+const save = 'save';`]],
  'an imported text': [{ 'tests/a.spec.ts': spec(`  await page.getByTestId(ids.drop).•1click();`), 'pages/basket.ts': plain }, { locator: `getByTestId('drop-line')`, replacement: `getByTestId('remove')` },
    'pages/basket.ts', [`-export const ids = { drop: 'drop-line', 'two words': "x" } as const;`, `+export const ids = { drop: 'remove', 'two words': "x" } as const;`]],
  'a page object, its method and a text of its own module': [{ 'tests/a.spec.ts': spec(`  await basket.•2drop('Mug');`), 'pages/basket.ts': pages }, { locator: `getByRole('listitem').filter({ hasText: 'Mug' }).getByTestId('drop-line')`, part: 2, replacement: `getByTestId('remove')` },
    'pages/basket.ts', [`-export const ids = { drop: 'drop-line', 'two words': "x" } as const;`, `+export const ids = { drop: 'remove', 'two words': "x" } as const;`]],
  'a part that the method returns': [{ 'tests/a.spec.ts': spec(`  await basket.•2drop('Mug');`), 'pages/basket.ts': pages }, { locator: `getByRole('listitem').filter({ hasText: 'Mug' }).getByTestId('drop-line')`, part: 0, replacement: `getByRole('row')` },
    'pages/basket.ts', [`-row(name: string) { return this.page.getByRole('listitem').filter({ hasText: name }); }`, `+row(name: string) { return this.page.getByRole('row').filter({ hasText: name }); }`]],
  'a field that the constructor sets': [{ 'tests/a.spec.ts': spec(`  const b = new Basket(page);\n  await expect(b.total).•1toHaveText('3');`), 'pages/basket.ts': plain }, { locator: `getByTestId('total')`, replacement: `getByTestId('sum')` },
    'pages/basket.ts', [`-constructor(page: Page) { super(page); this.total = page.getByTestId('total'); }`, `+constructor(page: Page) { super(page); this.total = page.getByTestId('sum'); }`]],
  'a getter of the class above': [{ 'tests/a.spec.ts': spec(`  const b = new Basket(page);\n  await b.heading.•1click();`), 'pages/basket.ts': plain }, { locator: `getByRole('heading', { name: 'Basket' })`, replacement: `getByRole('heading', { name: 'Your basket' })` },
    'pages/basket.ts', [`-export class Base { protected readonly page: Page; constructor(page: Page) { this.page = page; } get heading() { return this.page.getByRole('heading', { name: "Basket" }); } }`,
      `+export class Base { protected readonly page: Page; constructor(page: Page) { this.page = page; } get heading() { return this.page.getByRole('heading', { name: "Your basket" }); } }`]],
  'a field whose text is a template': [{ 'pages/basket.ts': plain.replace('this.hint!.fill', 'this.hint!.•1fill') }, { locator: `getByPlaceholder('Search the shop')`, replacement: `getByPlaceholder('Search \`$here\`')` },
    'pages/basket.ts', ['-const HINT: string = `Search the shop`;', '+const HINT: string = `Search \\`\\$here\\``;']],
  'without a line break at the end': [{ 'tests/a.spec.ts': `import { test } from '@playwright/test';\ntest('x', async ({ page }) => { await page.getByTestId('a').•1click(); });` }, { locator: `getByTestId('a')`, replacement: `getByTestId('b')` },
    'tests/a.spec.ts', [`-test('x', async ({ page }) => { await page.getByTestId('a').click(); });`, `+test('x', async ({ page }) => { await page.getByTestId('b').click(); });`]],
};

for (const playwright of versions)
  test(`edits with Playwright ${playwright.version}`, () => {
    for (const [what, [files, order, file, lines]] of Object.entries(cases))
      assert.deepEqual(repaired(files, order, playwright), { file, lines }, what);
  });

test('what has no edit says why', () => {
  const refused = {
    'a value that the test makes': ['not-literal', { 'tests/a.spec.ts': spec('  await page.getByTestId(`line-${1 + 1}`).•1click();') }, { locator: `getByTestId('line-2')`, replacement: `getByTestId('row-2')` }],
    'a parameter': ['not-literal', { 'tests/a.spec.ts': spec(`  await basket.•2drop('Mug');`), 'pages/basket.ts': pages }, { locator: `getByRole('listitem').filter({ hasText: 'Mug' }).getByTestId('drop-line')`, part: 1, replacement: `filter({ hasText: 'Cup' })` }],
    'a variable': ['no-segment', { 'tests/a.spec.ts': spec(`  let buy = page.getByTestId('a');\n  buy = page.getByTestId('buy');\n  await buy.•1click();`) }, { locator: `getByTestId('buy')`, replacement: `getByTestId('order')` }],
    'the same twice': ['ambiguous', { 'tests/a.spec.ts': spec(`  const list = page.getByRole('list');\n  await list.getByRole('list').filter({ hasText: String(1) }).•1click();`) }, { locator: `getByRole('list').getByRole('list')`, part: 1, replacement: `getByRole('table')` }],
    'another place': ['no-call', { 'tests/a.spec.ts': spec(`  •1const a = 1;`) }, { locator: `getByTestId('buy')`, replacement: `getByTestId('order')` }],
    'another locator': ['no-segment', { 'tests/a.spec.ts': spec(`  await page.getByText('x').•1click();`) }, { locator: `getByTestId('buy')`, replacement: `getByTestId('order')` }],
    'no parse': ['no-source', { 'tests/a.spec.ts': spec(`  await page.getByText('x').•1click(;`) }, { locator: `getByText('x')`, replacement: `getByText('y')` }],
    'no locator': ['no-segment', { 'tests/a.spec.ts': spec(`  await page.getByText('x').•1click();`) }, { locator: `getByText('x')`, replacement: `process.exit(1)` }],
    'two parts in two places': ['not-literal', { 'tests/a.spec.ts': spec(`  const list = page.getByRole('list');\n  await list.getByText('x').•1click();`) }, { locator: `getByRole('list').getByText('x')`, part: 0, through: 1, replacement: `getByText('y')` }],
    'more parts than there are': ['no-segment', { 'tests/a.spec.ts': spec(`  await page.getByText('x').•1click();`) }, { locator: `getByText('x')`, through: 1, replacement: `getByText('y')` }],
    'two for one': ['no-segment', { 'tests/a.spec.ts': spec(`  await page.getByText('x').•1click();`) }, { locator: `getByText('x')`, replacement: `getByText('x').first()` }],
    'more than a locator': ['no-segment', { 'tests/a.spec.ts': spec(`  await page.getByText('x').•1click();`) }, { locator: `getByText('x')`, replacement: `getByText('y'); evil()` }],
  };
  for (const [what, [code, files, order]] of Object.entries(refused)) {
    const { root, stack } = repository(files);
    assert.throws(() => edit(versions[0], root, { stack, part: 0, ...order }), e => e instanceof NotFound && e.code === code || (console.error(what, e), false), what);
    fs.rmSync(root, { recursive: true });
  }
});

test('nothing outside of the repository is opened', () => {
  const { root, stack } = repository({ 'out/a.spec.ts': spec(`  await page.getByText('x').•1click();`), 'repo/tests/b.spec.ts': '' });
  const inside = path.join(root, 'repo');
  fs.symlinkSync(path.join(root, 'out'), path.join(inside, 'link'));
  for (const file of [stack[0].file, path.join(inside, 'link', 'a.spec.ts'), '../out/a.spec.ts', '/etc/passwd', path.join(inside, 'node_modules/x.ts')])
    assert.throws(() => edit(versions[0], inside, { stack: [{ ...stack[0], file }], locator: `getByText('x')`, part: 0, replacement: `getByText('y')` }), e => e instanceof NotFound && e.code === 'no-source', file);
  fs.rmSync(root, { recursive: true });
});
