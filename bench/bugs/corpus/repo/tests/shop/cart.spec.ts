import { test, expect } from '@playwright/test';
import { CartPage } from '../../pages/CartPage';

test.describe('cart', () => {
  //#bug cart-checkout-disabled 12 mix
  test('one item can be bought', async ({ page }) => {
    const cart = new CartPage(page);
    await cart.open('?items=1');
    await cart.checkout();
    await expect(page).toHaveURL(/checkout/);
  });

  //#bug cart-checkout-disabled
  test('ten items can be bought', async ({ page }) => {
    const cart = new CartPage(page);
    await cart.open('?items=10');
    await cart.checkout();
  });

  //#bug cart-badge-stale 9 mix
  test('badge counts three items', async ({ page }) => {
    const cart = new CartPage(page);
    await cart.open('?items=3');
    await cart.expectBadge(3);
  });

  //#bug cart-badge-stale
  test('badge counts all quantities', async ({ page }) => {
    const cart = new CartPage(page);
    await cart.open('?items=12');
    await cart.expectBadge(12);
  });

  //#bug cart-quantity-reset 3
  test('quantity is kept after reload', async ({ page }) => {
    await page.goto('/cart?items=2');
    await page.reload();
    await expect(page.getByLabel('Quantity')).toHaveValue('2');
  });

  //#bug cart-remove-detached 4
  test('first item can be removed', async ({ page }) => {
    const cart = new CartPage(page);
    await page.goto('/cart/edit');
    await cart.removeFirst();
  });

  //#bug cart-remove-detached
  test('an emptied cart says so', async ({ page }) => {
    const cart = new CartPage(page);
    await page.goto('/cart/edit?items=1');
    await cart.removeFirst();
    await expect(page.getByText('Your cart is empty')).toBeVisible();
  });
});
