import { test, expect } from '@playwright/test';

//#bug env-browser-missing 6 65 nobrowser
test('page is drawn', async ({ page }) => {
  await page.goto('/');
});

//#bug env-browser-missing
test('page is printed', async ({ page }) => {
  await page.goto('/orders');
});

//#bug env-browser-missing
test('page is cached', async ({ page }) => {
  await page.goto('/sale');
});
