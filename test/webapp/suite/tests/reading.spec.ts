import { app, expect, test } from '../app';

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });
  test('a run, its failures and a test can be read, and lists filtered', async ({ page }) => {
    await page.goto(app.failed);
    await expect(page.locator('h1')).toContainText(/failed/i);
    await page.getByLabel('Status').selectOption('failed');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.locator('#all a.main').first().click();
    await expect(page.getByRole('heading', { name: 'Why it failed' })).toBeVisible();
    await expect(page.locator('time').first()).not.toBeEmpty();
    await page.goto(app.failed);
    await page.locator('#failures').getByRole('link', { name: /price of tea/ }).click();
    await page.getByRole('link', { name: 'Errors on the console and the network' }).first().click();
    await expect(page.locator('main')).toContainText('the till is out of paper <b>now</b>');
    await page.getByRole('link', { name: 'Back to the test' }).click();
    await expect(page.getByRole('heading', { name: 'Why it failed' })).toBeVisible();
  });
});

test('rows are walked and opened with the keyboard, and it says which keys there are', async ({ page }) => {
  await page.goto(app.shop);
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toContainText('next and previous row');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/runs\/[0-9a-f-]{36}/);
  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await expect(page).toHaveURL(/\/tests$/);
  await page.keyboard.press('/');
  await expect(page.getByRole('searchbox')).toBeFocused();
});

test('the first Tab leads to a way past the navigation', async ({ page }) => {
  await page.goto(app.shop);
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to the content' })).toBeFocused();
});

test('a theme is chosen, kept, and there before any other script', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(app.shop);
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await page.locator('summary', { hasText: 'You: ' }).click();
  await page.getByRole('radio', { name: 'Dark' }).check();
  expect(await paper()).not.toBe(light);
  const dark = await paper();
  await page.route(/\/assets\/app-.*\.js/, route => route.fulfill({ contentType: 'text/javascript', body: '' }));
  await page.goto(`${app.shop}/new`);
  expect(await paper()).toBe(dark);
  await page.unrouteAll();
  await page.goto(app.shop);
  await page.locator('summary', { hasText: 'You: ' }).click();
  await expect(page.getByRole('radio', { name: 'Dark' })).toBeChecked();
  await page.getByRole('radio', { name: 'System' }).check();
  expect(await paper()).toBe(light);
  await page.reload();
  expect(await paper()).toBe(light);
});

test('the list of runs shows at once that somebody cancelled a run', async ({ page, context }) => {
  await page.goto(app.shop);
  const acting = await context.newPage();
  await acting.goto(`${app.shop}/new`);
  await acting.getByLabel('Branch').fill('slow');
  await acting.getByRole('button', { name: 'Start the run' }).click();
  await acting.getByRole('button', { name: 'Cancel' }).waitFor();
  const id = new URL(acting.url()).pathname.split('/').pop()!;
  const row = page.locator('tr', { has: page.locator(`a[href$="${id}"]`) });
  await expect(row).toBeVisible();
  acting.on('dialog', d => d.accept());
  await acting.getByRole('button', { name: 'Cancel' }).click();
  await expect(row).toContainText(/cancelled/i);
});
