import { test, expect } from '@playwright/test';
import { Catalog } from '../../helpers/catalog';
import { createOrder } from '../../helpers/api';
import { required } from '../../helpers/env';

//#bug catalog-price-undefined
test('price of a bundle', async ({ request }) => {
  const catalog = new Catalog();
  await catalog.load(request);
  const sum = ['NL-100-A', 'NL-300-C'].reduce((s, code) => s + catalog.priceOf(code), 0);
  expect(sum).toBe(99.8);
});

//#bug env-admin-password 7 mix
test('prices can be changed', async ({ request }) => {
  await request.put('/api/prices', { headers: { authorization: required('ADMIN_PASSWORD') } });
});

//#bug env-stripe-key 3
test('prices are sent to Stripe', async () => {
  const key = required('STRIPE_KEY');
  expect(key).toMatch(/^sk_test_/);
});

//#bug api-orders-500
test('price of an order', async ({ request }) => {
  const order = await createOrder(request, ['NL-100-A']);
  expect(order.total).toBe(19.9);
});
