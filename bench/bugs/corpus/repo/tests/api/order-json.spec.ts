import { test, expect } from '@playwright/test';
import { required } from '../../helpers/env';
import { orderNo } from '../../helpers/data';

const get = async (request: any, path: string) => (await request.get(process.env.API_URL + path)).json();

//#bug order-json-currency 5 56
test('order has a currency', async ({ request }) => {
  const order = await get(request, `/api/order/${orderNo()}`);
  expect(order).toMatchObject({ currency: 'EUR', customer: { email: expect.stringContaining('@') } });
});

//#bug order-json-currency
test('order of a guest has a currency', async ({ request }) => {
  const order = await get(request, '/api/order/guest');
  expect(order).toMatchObject({ id: 'guest', currency: 'EUR' });
});

//#bug me-roles-empty 1
test('user has a role', async ({ request }) => {
  const me = await get(request, '/api/me');
  expect(me.roles).toContain('customer');
});

//#bug me-locale 1
test('user is as registered', async ({ request }) => {
  const me = await get(request, '/api/me');
  expect({ name: me.name, locale: me.locale }).toEqual({ name: 'Ann', locale: 'de' });
});

//#bug payment-not-captured 5 65
test('order is paid in the end', async ({ request }) => {
  const no = orderNo();
  await expect.poll(async () => (await get(request, `/api/payments/${no}`)).state, {
    message: `payment of order ${no} should be captured`,
    timeout: 2500,
  }).toBe('captured');
});

//#bug payment-not-captured
test('prepaid order is paid in the end', async ({ request }) => {
  const no = orderNo();
  await expect.poll(async () => (await get(request, `/api/payments/${no}`)).state, {
    message: `payment of order ${no} should be captured`,
    timeout: 3000,
  }).toBe('captured');
});

//#bug refund-in-review 4
test('refund is paid', async ({ request }) => {
  await expect(async () => {
    const refund = await get(request, `/api/refunds/${orderNo()}`);
    expect(refund.state).toBe('paid');
  }).toPass({ timeout: 3000 });
});

//#bug refund-in-review
test('partial refund is paid', async ({ request }) => {
  await expect(async () => {
    const refund = await get(request, `/api/refunds/part${orderNo()}`);
    expect(refund.state).toBe('paid');
  }).toPass({ timeout: 2000 });
});

//#bug env-admin-password
test('order can be changed by the admin', async () => {
  const password = required('ADMIN_PASSWORD');
  expect(password.length).toBeGreaterThan(8);
});

//#bug env-admin-password
test('order can be deleted by the admin', async ({ page }) => {
  await page.goto('/login');
  await page.getByLabel('Password').fill(required('ADMIN_PASSWORD'));
});
