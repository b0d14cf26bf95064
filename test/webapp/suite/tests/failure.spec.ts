import { app, expect, test } from '../app';

test('a failed test shows its error, the code, the step and what it looked like', async ({ page }) => {
  await page.goto(app.failed);
  await page.locator('#failures').getByRole('link', { name: /price of tea/ }).click();
  const why = page.locator('section', { has: page.getByRole('heading', { name: 'Why it failed' }) });
  await expect(why).toContainText('toHaveText');
  await expect(why.locator('pre.code .hot')).toContainText('toHaveText');
  await expect(why.getByText('reads the price', { exact: true })).toBeVisible();
  const shot = page.locator('.shots img').first();
  await shot.scrollIntoViewIfNeeded();
  await expect.poll(() => shot.evaluate((i: HTMLImageElement) => i.complete && i.naturalWidth), 'the screenshot is shown').toBeGreaterThan(100);
  await expect(page.locator('ol.strip li')).not.toHaveCount(0);
});

test('what the console and the network said stands beside each attempt', async ({ page }) => {
  await page.goto(app.failed);
  await page.locator('#failures').getByRole('link', { name: /price of tea/ }).click();
  const attempts = page.locator('#attempts section');
  await expect(attempts).toHaveCount(2);
  for (const attempt of await attempts.all()) {
    await expect(attempt.locator('li', { hasText: 'the till is out of paper <b>now</b>' })).toContainText('error');
    await expect(attempt.locator('li', { hasText: 'the price list is of yesterday' })).toContainText('warning');
    await expect(attempt.locator('li', { hasText: 'no change for a ten' })).toContainText('uncaught error');
    await expect(attempt.locator('li', { hasText: 'GET http://127.0.0.1:9/prices?of=tea' })).toContainText('net::');
  }
});

test('the trace opens in the trace viewer', async ({ page, context }) => {
  await page.goto(app.failed);
  await page.locator('#failures').getByRole('link', { name: /price of tea/ }).click();
  const opened = context.waitForEvent('page');
  await page.getByRole('link', { name: 'Open the trace' }).first().click();
  const viewer = await opened;
  await expect(viewer.getByText(/Expect "toHaveText"|toHaveText/).first()).toBeVisible({ timeout: 30_000 });
});

test('a verdict is taken at once, and a quarantine can be ended', async ({ page }) => {
  await page.goto(app.failed);
  await page.locator('#failures').getByRole('link', { name: /price of coffee/ }).click();
  await page.locator('summary', { hasText: 'Verdict' }).click();
  await page.getByLabel('What is it?').selectOption('bug');
  await page.getByLabel('Severity').selectOption('critical');
  await page.getByLabel('Comment').fill('The shop shows yesterday\'s price.');
  await page.getByRole('button', { name: 'Keep the verdict' }).click();
  await expect(page.locator('h1')).toContainText(/bug/i);
  await expect(page.locator('main')).toContainText('critical');

  await page.locator('summary', { hasText: 'Quarantine' }).click();
  await page.getByLabel('Why').fill('Until the price list is repaired.');
  await page.getByRole('button', { name: 'Quarantine the test' }).click();
  await page.locator('summary', { hasText: 'In quarantine' }).click();
  await page.getByRole('button', { name: 'End the quarantine' }).click();
  await expect(page.locator('summary', { hasText: 'Quarantine' })).not.toContainText('In quarantine');
});

test('a bug is confirmed, commented and found on the health page', async ({ page }) => {
  await page.goto(app.shop.replace(/runs$/, 'bugs/BUG-1'));
  await page.getByRole('button', { name: /confirmed/i }).click();
  await expect(page.locator('.facts')).toContainText(/confirmed/i);
  await page.getByLabel('Comment').fill('Seen by hand too.');
  await page.getByRole('button', { name: 'Keep the comment' }).click();
  await expect(page.locator('main')).toContainText('Seen by hand too.');
  await page.goto(app.shop.replace(/runs$/, 'health'));
  await expect(page.getByRole('row', { name: /BUG-1 / })).toContainText(/confirmed/i);
});

test('hostile titles are shown and do nothing', async ({ page }) => {
  await page.goto(app.failed);
  await expect(page.locator('#all')).toContainText('<script>alert(1)</script>');
});
