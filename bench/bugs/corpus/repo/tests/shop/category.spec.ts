import { test, expect } from '@playwright/test';

for (const name of ['lamps', 'chairs']) {
  //#bug cookie-banner-intercepts x2
  test(`first product of ${name} opens`, async ({ page }) => {
    await page.goto(`/category/${name}`);
    await page.getByRole('link', { name: 'Desk lamp' }).click();
    await expect(page).toHaveURL(/product/);
  });
}

//#bug cookie-banner-intercepts
test('only products in stock', async ({ page }) => {
  await page.goto('/category/lamps');
  await page.getByLabel('In stock').check();
});

//#bug category-heading-lowercase 1 65
test('category name is the heading', async ({ page }) => {
  await page.goto('/category/lamps');
  await expect(page.locator('h1')).toHaveText('Lamps and lights');
});
