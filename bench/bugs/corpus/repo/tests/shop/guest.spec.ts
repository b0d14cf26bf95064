import { test, expect } from '@playwright/test';
import { CartPage } from '../../pages/CartPage';
import { CheckoutPage } from '../../pages/CheckoutPage';

//#bug cart-checkout-disabled
test('guest checkout asks for an address', async ({ page }) => {
  const cart = new CartPage(page);
  await cart.open();
  await cart.checkout();
  await expect(page.getByLabel('Street')).toBeVisible();
});

//#bug cart-checkout-disabled
test('guest checkout without page object', async ({ page }) => {
  await page.goto('/cart?items=2');
  await page.getByRole('button', { name: 'Checkout' }).click();
  await page.waitForURL('**/checkout');
});

//#bug cart-badge-stale
test('guest cart survives a reload', async ({ page }) => {
  const cart = new CartPage(page);
  await cart.open('?items=4');
  await page.reload();
  await cart.expectBadge(4);
});

//#bug payment-frame-no-card-field 8 mix
test('guest pays by card', async ({ page }) => {
  await page.goto('/checkout/payment?guest=1');
  await new CheckoutPage(page).payWithCard();
});

//#bug place-order-no-confirmation
test('guest places an order', async ({ page }) => {
  await page.goto('/checkout/review?guest=1');
  const checkout = new CheckoutPage(page);
  await checkout.placeOrder();
});
