import { test, expect } from '@playwright/test';
import { CartPage } from '../../pages/CartPage';
import { expectTotal } from '../../helpers/money';

for (const [code, expected] of [['SUMMER10', 17.91], ['WELCOME', 14.9], ['STAFF', 9.95]] as const) {
  //#bug cart-total-missing 6 65 x3
  test(`coupon ${code} lowers the total`, async ({ page }) => {
    const cart = new CartPage(page);
    await cart.open(`?items=1&coupon=${code}`);
    expect(await cart.total()).toBe(expected);
  });
}

//#bug cart-total-missing
test('two coupons do not add up', async ({ page }) => {
  const cart = new CartPage(page);
  await cart.open('?items=3&coupon=A,B');
  const total = await cart.total();
  expect(total).toBeGreaterThan(0);
});

//#bug cart-checkout-disabled
test('coupon does not block checkout', async ({ page }) => {
  const cart = new CartPage(page);
  await cart.open('?coupon=WELCOME');
  await cart.checkout();
});

//#bug order-total-tax
test('coupon is taken off before tax', async ({ page }) => {
  await page.goto('/checkout/summary?net=90&coupon=TEN');
  await expectTotal(page, 107.1);
});

//#bug coupon-request-never-sent 1
test('coupon is checked on the server', async ({ page }) => {
  await page.goto('/cart?items=1');
  const checked = page.waitForRequest('**/api/coupons/**', { timeout: 2500 });
  await page.getByLabel('Quantity').press('Enter');
  await checked;
});
