import { test, expect } from '@playwright/test';

//#bug loading-mask-intercepts
test('coupon can be saved', async ({ page }) => {
  await page.goto('/admin/coupons');
  await page.getByRole('button', { name: 'Save' }).click();
});

//#bug loading-mask-intercepts
test('coupon can be activated', async ({ page }) => {
  await page.goto('/admin/coupons');
  await page.getByLabel('Active').check();
});
