import { test, expect } from '@playwright/test';

//#bug dashboard-orders-zero 4 56
test('orders of today are counted', async ({ page }) => {
  await page.goto('/admin/dashboard');
  await expect(page.locator('.kpi.orders')).not.toHaveText('0');
});

//#bug dashboard-revenue-format 4
test('revenue has a currency', async ({ page }) => {
  await page.goto('/admin/dashboard');
  await expect(page.locator('.kpi.revenue')).toHaveText(/^€ [\d.]+,\d\d$/);
});

//#bug dashboard-toast-stays 4
test('toast goes away', async ({ page }) => {
  await page.goto('/admin/dashboard');
  await page.locator('.refresh').click();
  await expect(page.locator('.toast')).toBeHidden();
});

//#bug dashboard-toast-stays
test('toast goes away after a change', async ({ page }) => {
  await page.goto('/admin/dashboard?changed=1');
  await expect(page.locator('.toast')).toBeHidden();
});

//#bug dashboard-never-idle 2
test('live view settles', async ({ page }) => {
  await page.goto('/live');
  await page.waitForLoadState('networkidle', { timeout: 3000 });
});

//#bug dashboard-orders-zero
test('counter of orders grows', async ({ page }) => {
  await page.goto('/admin/dashboard');
  await expect.poll(async () => Number(await page.locator('.kpi.orders').innerText()), { timeout: 3000 }).toBeGreaterThan(0);
});
