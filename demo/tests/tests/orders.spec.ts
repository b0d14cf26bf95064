import { expect, owner, test } from '../fixtures';
import { CheckoutPage } from '../pages/checkout';
import { OrdersPage } from '../pages/orders';
import { customer, goodCard, home } from '../people';
import type { Page } from '@playwright/test';

test.describe('Orders', { tag: '@orders', annotation: owner('checkout-team') }, () => {
  test('lists the orders of the customer alone', { tag: '@smoke' }, async ({ orders }) => {
    await orders.open();
    await expect(orders.heading).toBeVisible();
    await expect(orders.orders).toHaveCount(2);
    await expect(orders.order('ML-1003')).toContainText('€68.00');
  });

  test('does not show the orders of others', async ({ page }) => {
    const answer = await page.goto('/orders/ML-1002');
    expect(answer?.status()).toBe(404);
  });
});

// One customer's way through the shop on one page: each step needs the one before.
test.describe('An order from cart to history', { tag: ['@orders', '@checkout'], annotation: owner('checkout-team') }, () => {
  test.describe.configure({ mode: 'serial' });

  let page: Page;

  test.beforeAll(async ({ browser }) => {
    const context = await browser.newContext({ storageState: customer.state });
    page = await context.newPage();
  });

  test.afterAll(async () => {
    await page.context().close();
  });

  test('is placed', async () => {
    await page.request.post('/api/cart/items', { data: { product: 'huila-sunset', quantity: 2 } });
    const checkout = new CheckoutPage(page);
    await checkout.open();
    await checkout.fillAddress(home);
    await checkout.fillCard(goodCard);
    await checkout.placeOrder();
    await expect(checkout.orderNumber).toHaveText('ML-1005');
  });

  test('heads the history', async () => {
    const orders = new OrdersPage(page);
    await orders.open();
    await expect(orders.orders).toHaveCount(3);
    await expect(orders.orders.first()).toContainText('ML-1005');
  });

  test('shows its details', async () => {
    const orders = new OrdersPage(page);
    await orders.see('ML-1005');
    await expect(orders.status).toHaveText('Placed');
    await expect(orders.total).toHaveText('€34.90');
    await expect(page.getByRole('list', { name: 'Items' })).toContainText('2 × €15.00');
  });
});
