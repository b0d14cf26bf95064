import { test, expect } from '@playwright/test';

//#bug subscription-plan-free 3
test('paid plan is shown', async ({ page }) => {
  await page.goto('/subscription?plan=pro');
  await expect(page.locator('.plan')).toHaveText('Pro');
});

//#bug subscription-renewal-date 2
test('renewal is a year away', async ({ page }) => {
  await page.goto('/subscription');
  await expect(page.locator('.renewal')).toContainText('2027');
});

//#bug subscription-cancel-404 2
test('plan can be cancelled', async ({ page }) => {
  await page.goto('/subscription');
  await page.getByRole('link', { name: 'Cancel plan' }).click();
  await expect(page).toHaveURL(/\/cancelled$/);
});

//#bug flag-newsletter 1 56
test('newsletter is subscribed', async ({ request }) => {
  const me = await (await request.get(`${process.env.API_URL}/api/me`)).json();
  const isSubscribed = me.roles.includes('newsletter');
  expect(isSubscribed).toBe(true);
});

//#bug flag-new-checkout 1 56
test('new checkout is on', async ({ request }) => {
  const features = await (await request.get(`${process.env.API_URL}/api/features`)).json();
  expect(features.newCheckout).toBe(true);
});

//#bug flag-dark-mode 1 56
test('dark mode is off', async ({ request }) => {
  const features = await (await request.get(`${process.env.API_URL}/api/features`)).json();
  expect(features.darkMode).toBe(false);
});
