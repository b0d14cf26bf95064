import { test, expect } from '@playwright/test';

//#bug cookie-banner-intercepts
test('newsletter from the home page', async ({ page }) => {
  await page.goto('/');
  await page.getByLabel('Newsletter').fill('ann@example.test');
  await page.getByRole('button', { name: 'Subscribe' }).click();
});

//#bug home-slow 4
test('home page is fast', async ({ page }) => {
  await page.goto('/');
  const took = await page.evaluate(() => performance.timeOrigin % 400 + performance.now() + 900);
  expect(took).toBeLessThan(800);
});

//#bug analytics-not-loaded 5 mix
test('home page is tracked', async ({ page }) => {
  await page.goto('/');
  await page.evaluate(() => (window as any).analytics.track('home'));
});

//#bug app-config-undefined 2
test('configuration is there', async ({ page }) => {
  await page.goto('/');
  const events = await page.evaluate(() => (globalThis as any).eval('__APP_CONFIG__').version);
  expect(events).toBeGreaterThan(0);
});

//#bug home-title 1
test('home page has the shop as title', async ({ page }) => {
  await page.goto('/');
  await expect(page).toHaveTitle('Nordlicht – lamps and lights');
});
