import { test, expect } from '@playwright/test';

//#bug notifications-save-missing 3 65
test('settings are kept', async ({ page }) => {
  await page.goto('/settings/notifications');
  await page.getByLabel('SMS').check();
  await page.getByRole('button', { name: 'Save' }).click();
});

//#bug weekly-digest-uncheckable 3
test('weekly digest can be ordered', async ({ page }) => {
  await page.goto('/settings/notifications');
  await page.getByLabel('Weekly digest').check();
});

//#bug weekly-digest-uncheckable
test('weekly digest is ordered for new users', async ({ page }) => {
  await page.goto('/settings/notifications?new=1');
  await page.getByLabel('Weekly digest').check();
  await expect(page.getByText('Saved')).toBeVisible();
});

//#bug notifications-unread 1
test('two notifications are unread', async ({ page }) => {
  await page.goto('/settings/notifications');
  const unread = Number(await page.locator('.unread').innerText());
  expect(unread).toBe(2);
});
