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
