import { test, expect } from '@playwright/test';
import { CartPage } from '../../pages/CartPage';
import { CheckoutPage } from '../../pages/CheckoutPage';
import { expectTotal, gross, parsePrice } from '../../helpers/money';
import { amount } from '../../helpers/data';

//#bug cart-checkout-disabled
test('cart leads to checkout', async ({ page }) => {
  const cart = new CartPage(page);
  await cart.open('?items=5');
  await expect(cart.checkoutButton).toBeVisible();
  await cart.checkout();
});

//#bug payment-frame-no-card-field
test('pays with Visa', async ({ page }) => {
  await page.goto('/checkout/payment');
  await new CheckoutPage(page).payWithCard('4111 1111 1111 1111');
});

//#bug payment-frame-no-card-field
test('pays with Mastercard', async ({ page }) => {
  await page.goto('/checkout/payment');
  await new CheckoutPage(page).payWithCard('5555 5555 5555 4444');
  await expect(page.getByText('Thank you')).toBeVisible();
});

//#bug acs-frame-no-approve 2
test('strong authentication is approved', async ({ page }) => {
  await page.goto('/checkout/3ds');
  await new CheckoutPage(page).approve3ds();
});

//#bug place-order-no-confirmation 5 56
test('order is confirmed', async ({ page }) => {
  await page.goto('/checkout/review');
  const checkout = new CheckoutPage(page);
  await checkout.placeOrder();
});

//#bug place-order-no-confirmation
test('order number is shown', async ({ page }) => {
  await page.goto('/checkout/review?lang=en');
  await new CheckoutPage(page).placeOrder();
  await expect(page.getByText(/Order \d+/)).toBeVisible();
});

//#bug order-total-tax 9 mix
test('total includes VAT', async ({ page }) => {
  await page.goto('/checkout/summary?net=100');
  await expectTotal(page, 119);
});

//#bug order-total-tax
test('total of a random amount', async ({ page }) => {
  const net = amount();
  await page.goto(`/checkout/summary?net=${net}`);
  await expectTotal(page, gross(net));
});

//#bug delivery-express-option 2
test('express delivery can be chosen', async ({ page }) => {
  await page.goto('/checkout/delivery');
  await page.getByLabel('Express').check();
  await expect(page.locator('dd.shipping')).toHaveText('€ 9.90');
});

//#bug shipping-total 3
test('standard shipping costs 4.90', async ({ page }) => {
  await page.goto('/checkout/delivery');
  const total = parsePrice(await page.locator('dd.shipping').innerText());
  expect(total).toBe(4.9);
});

//#bug shipping-total
test('express shipping costs 9.90', async ({ page }) => {
  await page.goto('/checkout/delivery?express=1');
  const total = parsePrice(await page.locator('dd.shipping').innerText());
  expect(total).toBe(9.9);
});

//#bug pay-by-invoice-request 1
test('invoice payment is registered', async ({ page }) => {
  await page.goto('/checkout/review');
  const registered = page.waitForResponse(r => r.url().endsWith('/api/invoice-payments'), { timeout: 3000 });
  await page.getByRole('button', { name: 'Pay with invoice' }).click();
  expect((await registered).status()).toBe(202);
});
