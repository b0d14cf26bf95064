import { test, expect } from '@playwright/test';

//#bug loading-mask-intercepts 7 mix
test('product can be saved', async ({ page }) => {
  await page.goto('/admin/products');
  await page.getByRole('button', { name: 'Save' }).click();
});

//#bug loading-mask-intercepts
test('product can be added', async ({ page }) => {
  await page.goto('/admin/products');
  await page.getByRole('button', { name: 'New product' }).click();
  await page.getByLabel('Name').fill('Lamp');
});

//#bug loading-mask-intercepts
test('products can be imported', async ({ page }) => {
  await page.goto('/admin/products?tab=import');
  await page.locator('text=Import').click();
});

//#bug product-columns 2
test('table has a column for stock', async ({ page }) => {
  await page.goto('/admin/products');
  await expect(page.getByRole('columnheader', { name: 'Stock' })).toBeVisible();
});
