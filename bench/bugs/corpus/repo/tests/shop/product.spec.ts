import { test, expect } from '@playwright/test';
import { sku } from '../../helpers/data';

//#bug cookie-banner-intercepts 9 65
test('lamp is put into the cart', async ({ page }) => {
  await page.goto(`/product/${sku()}`);
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await expect(page.getByTestId('cart-badge')).toHaveText('1');
});

//#bug cookie-banner-intercepts
test('reviews are linked', async ({ page }) => {
  await page.goto('/product/a-17');
  await page.getByRole('link', { name: 'Reviews' }).click();
});

//#bug product-gallery-missing 3
test('gallery shows a picture', async ({ page }) => {
  await page.goto(`/product/${sku()}`);
  await expect(page.locator('.gallery img').first()).toBeVisible();
});

//#bug product-delivery-text 2
test('delivery time is shown', async ({ page }) => {
  await page.goto('/product/a-17');
  await expect(page.getByText(/Delivered in \d+ days/)).toBeVisible();
});

//#bug product-name-locale 1
test('product has its full name', async ({ page }) => {
  await page.goto('/product/a-17');
  await expect(page.locator('h1')).toHaveText('Desk lamp “Aurora”');
});
