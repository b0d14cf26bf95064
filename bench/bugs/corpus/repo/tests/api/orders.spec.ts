import { test, expect } from '@playwright/test';
import { createOrder, reserve, session, quote } from '../../helpers/api';
import { sku } from '../../helpers/data';

//#bug api-orders-500 12 mix
test('order with one item', async ({ request }) => {
  const order = await createOrder(request, [sku()]);
  expect(order.items).toHaveLength(1);
});

//#bug api-orders-500
test('order with many items', async ({ request }) => {
  await createOrder(request, Array.from({ length: 20 }, sku));
});

//#bug api-orders-500
test('order is cancelled', async ({ request }) => {
  const { id } = await createOrder(request, ['A-1']);
  await request.delete(`/api/orders/${id}`);
});

//#bug stock-service-refused 8 mix
test('ordered item is reserved', async ({ request }) => {
  await reserve(request, sku());
});

//#bug session-html-instead-of-json 5
test('order of a session', async ({ request }) => {
  const token = await session(request);
  expect(token).toBeTruthy();
});

//#bug quote-502 6
test('ordered item has a quote', async ({ request }) => {
  expect(await quote(request, sku())).toBeGreaterThan(0);
});

//#bug quote-502
test('sold out item has no quote', async ({ request }) => {
  expect(await quote(request, 'SOLD-OUT-1')).toBe(0);
});
