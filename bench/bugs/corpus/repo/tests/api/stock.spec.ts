import { test, expect } from '@playwright/test';
import { available, clearMailbox, reserve, session, quote } from '../../helpers/api';
import { verify } from '../../helpers/verify';
import { sku } from '../../helpers/data';

//#bug stock-service-refused
test('reserved item is not available', async ({ request }) => {
  const code = sku();
  await reserve(request, code, 3);
  expect(await available(request, code)).toBe(0);
});

//#bug stock-service-refused
test('stock of an item', async ({ request }) => {
  expect(await available(request, sku())).toBe(7);
});

//#bug mailbox-refused 4
test('stock alarm is mailed', async ({ request }) => {
  await clearMailbox(request);
});

//#bug quote-502
test('quote is a number', async ({ request }) => {
  expect(typeof await quote(request, sku())).toBe('number');
});

//#bug session-html-instead-of-json
test('stock needs a session', async ({ request }) => {
  await session(request);
});

//#bug verify-stock-level 3
test('level after delivery', async () => {
  verify('stock level', 12, 12 - Math.ceil(Math.random() * 5));
});

//#bug verify-delivery-days 3
test('days of delivery', async () => {
  verify('delivery days', 2, 2 + Math.ceil(Math.random() * 4));
});

//#bug verify-delivery-days
test('days of express delivery', async () => {
  verify('delivery days', 1, 5);
});

//#bug verify-seller-rating 2
test('rating of the seller', async () => {
  verify('seller rating', 4.5, 'null');
});
