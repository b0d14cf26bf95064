// What a repair may change, and what it never may.
const { test } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('fs');
const path = require('path');
const { findPlaywright } = require('../dist/playwright');
const { lint } = require('../dist/lint');

const versions = fs.readdirSync(path.join(__dirname, 'versions')).filter(v => /^\d/.test(v)).map(v => findPlaywright(path.join(__dirname, 'versions', v)));

const before = `import { test, expect } from '@playwright/test';
test.describe('shop', () => {
  test('buys', async ({ page }) => {
    await page.goto('/');
    await page.getByRole('listitem').nth(1).getByTestId('buy').click();
    await page.getByLabel('How many').fill('2');
    await expect(page.getByTestId('total')).toHaveText('9.00', { timeout: 5000 });
    await expect(page.getByText('Sold out')).not.toBeVisible();
    expect(await page.title()).toBe('Shop');
  });
});
`;
const replace = (from, to) => {
  assert.ok(before.includes(from), from);
  return before.replace(from, to);
};

const fine = {
  'nothing': before,
  'another test id': replace(`getByTestId('buy')`, `getByTestId('order')`),
  'another strategy': replace(`getByTestId('buy')`, `getByRole('button', { name: 'Order' })`),
  'the element that is checked': replace(`getByTestId('total')`, `getByRole('status', { name: 'Total' })`),
  'another formatting': before.replace(/;\n/g, ';\n\n').replace(`{ timeout: 5000 }`, `{\n timeout:   5000 }`),
  'a comment': replace(`await page.goto('/');`, `await page.goto('/'); // the first page`),
  'a constant': replace(`await page.goto('/');`, `await page.goto('/');\n    const buy = 'order';`).replace(`getByTestId('buy')`, `getByTestId(buy)`),
  'a place that is gone': replace(`.nth(1)`, ``),
};
const never = {
  'test-removed': [`  test('buys', async`, `  test('looks', async`],
  'test-disabled': [`  test('buys', async`, `  test.skip('buys', async`],
  'test-disabled ': [`await page.goto('/');`, `test.fixme(); await page.goto('/');`],
  'assertion-removed': [`    expect(await page.title()).toBe('Shop');\n`, ``],
  'assertion-removed ': [`toHaveText('9.00'`, `toHaveText(/./`],
  'assertion-removed  ': [`toHaveText('9.00', { timeout: 5000 })`, `toBeVisible()`],
  'assertion-added': [`expect(page.getByTestId('total'))`, `expect.soft(page.getByTestId('total'))`],
  'assertion-added ': [`.not.toBeVisible()`, `.toBeVisible()`],
  'action-removed': [`    await page.getByLabel('How many').fill('2');\n`, ``],
  'action-removed ': [`fill('2')`, `fill('1')`],
  'positional': [`getByTestId('buy')`, `getByTestId('buy').first()`],
  'force': [`.click()`, `.click({ force: true })`],
  'sleep': [`await page.goto('/');`, `await page.goto('/'); await page.waitForTimeout(1000);`],
  'sleep ': [`await page.goto('/');`, `await page.goto('/'); await new Promise(r => setTimeout(r, 1000));`],
  'timeout': [`timeout: 5000`, `timeout: 50000`],
  'timeout ': [`await page.goto('/');`, `test.setTimeout(90_000); await page.goto('/');`],
  'swallowed': [`await page.getByLabel('How many').fill('2');`, `try { await page.getByLabel('How many').fill('2'); } catch {}`],
  'swallowed ': [`.click();`, `.click().catch(() => {});`],
  'condition': [`await page.getByLabel('How many').fill('2');`, `if (await page.getByLabel('How many').isVisible()) await page.getByLabel('How many').fill('2');`],
  'condition ': [`await page.getByLabel('How many')`, `return; await page.getByLabel('How many')`],
  'condition  ': [`await expect(page.getByText('Sold out'))`, `process.env.X && await expect(page.getByText('Sold out'))`],
  'evaluate': [`await page.goto('/');`, `await page.goto('/'); await page.evaluate(() => document.title = 'Shop');`],
  'intercept': [`await page.goto('/');`, `await page.route('**/*', r => r.fulfill({ body: '' })); await page.goto('/');`],
  'escape': [`import { test`, `import { execSync } from 'child_process';\nimport { test`],
  'escape ': [`await page.goto('/');`, `await fetch('http://evil'); await page.goto('/');`],
  'escape  ': [`await page.goto('/');`, `await page.goto('/'); const { skip } = test; skip();`],
  'escape   ': [`await page.goto('/');`, `await page.goto('/'); await page['wait' + 'ForTimeout'](1000);`],
  'escape    ': [`await page.goto('/');`, `await page.goto('/'); await import('fs');`],
  'escape     ': [`await page.goto('/');`, `await page.goto('/'); page.goto.constructor('return 1')();`],
  'escape      ': [`await page.goto('/');`, `await page.goto('/'); await page.context().clearCookies();`],
  'test-disabled  ': [`await page.goto('/');`, `const t = test; t.skip(); await page.goto('/');`],
  'condition   ': [`await expect(page.getByText('Sold out'))`, `for (const x of []) await expect(page.getByText('Sold out'))`],
  'condition    ': [`getByLabel('How many').fill`, `getByLabel('How many')?.fill`],
  'not-awaited': [`await expect(page.getByTestId('total'))`, `expect(page.getByTestId('total'))`],
  'not-awaited ': [`await page.getByLabel('How many').fill('2');`, `page.getByLabel('How many').fill('2');`],
  'assertion-removed   ': [`expect(await page.title())`, `expect('Shop')`],
  'address': [`await page.goto('/');`, `await page.goto('/'); await page.goto('/#2');`],
  'address ': [`await page.goto('/');`, `await page.goto('/'); const shop = 'https://evil.example.com/';`],
  'address  ': [`await page.getByLabel('How many').fill('2');`, `await page.getByLabel('How many').fill('2'); await page.getByLabel('Picture').setInputFiles('/etc/passwd');`],
  'not-parsed': [`await page.goto('/');`, `await page.goto('/'`],
};

for (const playwright of versions)
  test(`the rules hold with Playwright ${playwright.version}`, () => {
    for (const [what, after] of Object.entries(fine))
      assert.deepEqual(lint(playwright, before, after), [], what);
    for (const [rule, [from, to]] of Object.entries(never)) {
      const got = lint(playwright, before, replace(from, to)).map(o => o.rule);
      assert.ok(got.includes(rule.trim()), `${to} is ${got.join(', ') || 'fine'}, not ${rule}`);
    }
  });

test('what is written freely must not look elsewhere for what must not be there', () => {
  const elsewhere = replace(`expect(page.getByText('Sold out'))`, `expect(page.getByText('Sold'))`);
  assert.deepEqual(lint(versions[0], before, elsewhere), []);
  assert.ok(lint(versions[0], before, elsewhere, true).some(o => o.rule === 'assertion-removed'));
  const here = replace(`getByTestId('total')`, `getByTestId('sum')`).replace(`await page.getByLabel('How many')`, `await page.getByRole('button', { name: 'Next' }).click();\n    await page.getByLabel('How many')`);
  assert.deepEqual(lint(versions[0], before, here, true), []);
});

test('a page object may answer another locator, and nothing else', () => {
  const text = `class Shop { save() { return this.page.getByRole('main').getByTestId('a'); } }`;
  assert.deepEqual(lint(versions[0], text, text.replace(`getByTestId('a')`, `getByRole('button')`)), []);
  assert.ok(lint(versions[0], text, text.replace(`this.page.getByRole('main').getByTestId('a')`, `undefined`)).some(o => o.rule === 'condition'));
});

test('a value may be read by another locator, and by nothing else', () => {
  const text = `expect(await page.getByTestId('a').textContent()).toBe('x');`;
  assert.deepEqual(lint(versions[0], text, text.replace(`getByTestId('a')`, `getByRole('status')`)), []);
  assert.ok(lint(versions[0], text, text.replace('textContent()', `getAttribute('a')`)).length);
});

test('what could not be read before counts as new', () => {
  assert.deepEqual(lint(versions[0], 'test(', `import { test } from '@playwright/test';\ntest.skip('x', async () => {});`).map(o => o.rule).sort(), ['escape', 'test-disabled']);
});
