import { test, expect } from '@playwright/test';

async function track(page: any, event: string) {
  await page.evaluate((name: string) => (window as any).analytics.track(name), event);
}

//#bug analytics-not-loaded
test('sale is tracked', async ({ page }) => {
  await page.goto('/sale');
  await track(page, 'sale');
});

//#bug analytics-not-loaded
test('stores are tracked', async ({ page }) => {
  await page.goto('/stores');
  await track(page, 'stores');
});

//#bug parcel-progress 2
test('parcel is on its way', async ({ page }) => {
  await page.goto('/tracking');
  await expect(page.getByRole('progressbar')).toHaveAttribute('aria-valuenow', '60');
});

//#bug parcel-map-null 3
test('map of the parcel has a position', async ({ page }) => {
  await page.goto('/tracking');
  const position = await page.evaluate(() => document.querySelector<HTMLElement>('#parcel-map')!.dataset.position);
  expect(position).toMatch(/\d+,\d+/);
});
