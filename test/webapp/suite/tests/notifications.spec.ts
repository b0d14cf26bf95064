import { app, expect, test } from '../app';

test('a destination is added, tested and removed, and its key is shown once', async ({ page }) => {
  const name = `ops ${Date.now()}`;
  await page.goto(app.shop.replace(/runs$/, 'settings/notifications/new'));
  await page.getByLabel('Name').fill(name);
  await page.locator('input[name=url]').fill('https://no-such-host.invalid/hook-s3cret');
  await page.getByLabel('a new bug').check();
  await page.getByRole('button', { name: 'Save' }).click();
  const key = (await page.locator('#signing-key').textContent())!.trim();
  expect(key).toMatch(/^whsec_/);

  await page.goto(app.shop.replace(/runs$/, 'settings/notifications'));
  await page.getByRole('link', { name }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText(name);
  expect(await page.content()).not.toContain(key);
  expect(await page.content()).not.toContain('s3cret');
  await page.getByRole('button', { name: 'Send test' }).click();
  await expect(page.locator('#flash')).toContainText('The test message');
  await expect(page.locator('#deliveries')).toContainText('a test message');

  await page.locator('#deliveries a.main').first().click();
  await expect(page.getByRole('heading', { name: 'What happened' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
  await page.goto(app.shop.replace(/runs$/, 'settings/notifications'));
  await page.getByRole('link', { name }).click();
  await page.getByRole('button', { name: 'Remove it and its secrets' }).click();
  await expect(page.getByRole('link', { name })).toHaveCount(0);
});
