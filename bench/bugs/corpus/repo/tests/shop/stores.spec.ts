import { test, expect } from '@playwright/test';
import { expectBalance } from '../../helpers/money';

//#bug store-locate-outside 1
test('nearest store is found', async ({ page }) => {
  await page.goto('/stores');
  await page.getByRole('button', { name: 'Use my location' }).click();
});

//#bug store-map-css 1
test('map is high enough', async ({ page }) => {
  await page.goto('/stores');
  await expect(page.locator('.map')).toHaveCSS('height', '320px');
});

//#bug store-distance-unit 1
test('distance is in miles', async ({ page }) => {
  await page.goto('/stores?country=us');
  expect(await page.locator('.distance').innerText()).toMatch(/^\d+(\.\d)? mi$/);
});

//#bug gift-balance 3
test('gift card has its balance', async ({ page }) => {
  await expectBalance(page, 50);
});

//#bug gift-balance
test('gift card after a purchase', async ({ page }) => {
  await expectBalance(page, 30.1);
});
