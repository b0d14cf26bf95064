import { test, expect } from '@playwright/test';
import { CartPage } from '../../pages/CartPage';

//#bug cart-badge-missing 3 65
test('badge on the sale page', async ({ page }) => {
  const cart = new CartPage(page);
  await page.goto('/sale');
  await cart.expectBadge(0);
});

//#bug cart-badge-missing
test('badge on the sale page of lamps', async ({ page }) => {
  const cart = new CartPage(page);
  await page.goto('/sale/lamps');
  await cart.expectBadge(0);
});

//#bug sale-countdown 1
test('countdown runs', async ({ page }) => {
  await page.goto('/sale');
  await page.waitForFunction(() => (window as any).countdown < 10, undefined, { timeout: 2500 });
});
