import { test, expect } from '@playwright/test';
import { Catalog } from '../../helpers/catalog';
import { sku } from '../../helpers/data';

test.describe('catalog', () => {
  const catalog = new Catalog();
  test.beforeEach(({ request }) => catalog.load(request));

  //#bug catalog-price-undefined 8 56
  test('lamp has a price', async () => {
    expect(catalog.priceOf('NL-100-A')).toBeGreaterThan(0);
  });

  //#bug catalog-price-undefined
  test('chair has a price', async () => {
    expect(catalog.priceOf('NL-200-B')).toBe(129);
  });

  //#bug catalog-price-undefined
  test('any product has a price', async () => {
    const price = catalog.priceOf(sku());
    expect(price).not.toBeNaN();
  });
});

//#bug coupon-api-not-found 4
test('coupon can be read', async ({ request }) => {
  const response = await request.get(`${process.env.API_URL}/api/coupons/SUMMER10`);
  await expect(response).toBeOK();
});

//#bug coupon-api-not-found
test('coupon of the staff can be read', async ({ request }) => {
  const response = await request.get(`${process.env.API_URL}/api/coupons/STAFF`);
  await expect(response).toBeOK();
});

//#bug review-api-422 3
test('review can be written', async ({ request }) => {
  const response = await request.post(`${process.env.API_URL}/api/reviews`, { data: { stars: 5, text: 'ok' } });
  await expect(response).toBeOK();
});

//#bug rates-express-price 1
test('rates of shipping', async ({ request }) => {
  const body = await (await request.get(`${process.env.API_URL}/api/shipping-rates`)).json();
  expect(body.rates).toEqual([{ code: 'STD', price: 4.9 }, { code: 'EXP', price: 9.9 }]);
});

//#bug currency-usd-rate 1
test('rate of the dollar', async ({ request }) => {
  const { rates } = await (await request.get(`${process.env.API_URL}/api/currencies`)).json();
  expect(rates.USD).toBeLessThan(2);
});
