import { app, expect, test } from '../app';

test('a run that is started here is followed live, without loading the page again', async ({ page }) => {
  await page.goto(app.shop);
  await page.getByRole('link', { name: /start a run|new run/i }).first().click();
  await page.getByLabel('Those that a pattern fits').check();
  await page.getByRole('textbox', { name: 'Pattern' }).fill('tea is');
  await page.getByRole('button', { name: 'Start the run' }).click();
  await expect(page.locator('h1')).toContainText(/queued|preparing|running/i);
  await page.evaluate(() => { (window as never as { here: boolean }).here = true; });
  await expect(page.locator('h1')).toContainText(/passed/i, { timeout: 50_000 });
  await expect(page).toHaveTitle(/passed/i);
  expect(await page.locator('#favicon').getAttribute('href')).toContain('pass');
  expect(await page.evaluate(() => (window as never as { here: boolean }).here), 'the page was loaded again').toBe(true);
});

test('a run can be cancelled', async ({ page }) => {
  await page.goto(app.shop.replace(/runs$/, 'runs/new'));
  await page.getByLabel('Branch').fill('slow');
  await page.getByRole('button', { name: 'Start the run' }).click();
  await expect(page.locator('h1')).toContainText(/queued|preparing|running/i);
  page.on('dialog', d => d.accept());
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.locator('h1')).toContainText(/cancelled/i, { timeout: 40_000 });
});

test('a pattern that is none is refused in words, and what was entered stays', async ({ page }) => {
  await page.goto(app.shop.replace(/runs$/, 'runs/new'));
  await page.getByLabel('Those that a pattern fits').check();
  await page.getByRole('textbox', { name: 'Pattern' }).fill('/(/');
  await page.getByLabel('Branch').fill('some-branch');
  await page.getByRole('button', { name: 'Start the run' }).click();
  await expect(page.getByRole('alert')).toContainText(/expression|pattern/i);
  await expect(page.getByRole('textbox', { name: 'Pattern' })).toHaveValue('/(/');
  await expect(page.getByLabel('Branch')).toHaveValue('some-branch');
});

test('runs are filtered by state and text, in an address that can be shared', async ({ page }) => {
  await page.goto(app.shop);
  await page.getByLabel('Branch').selectOption({ label: 'broken' });
  await page.getByRole('button', { name: 'Filter' }).click();
  await expect(page).toHaveURL(/branch=broken/);
  const rows = page.locator('table.rows tbody tr');
  await expect(rows.first()).toContainText('broken');
  for (const row of await rows.all()) await expect(row).toContainText('broken');
});
