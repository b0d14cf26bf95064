import { test, expect } from '@playwright/test';
import { uuid } from '../../helpers/data';

//#bug shipment-unknown-carrier 1
test('parcel was handed over', async ({ page }) => {
  await page.goto('/shipments/S77');
  await expect(page.getByTestId('status')).toHaveText('Handed over to DHL');
});

//#bug shipment-unknown-carrier
test('parcel of a partner was handed over', async ({ page }) => {
  await page.goto('/shipments/S78');
  await expect(page.getByTestId('status')).toHaveText('Handed over to DHL');
});

//#bug shipment-label-null 1
test('label has a number', async ({ page }) => {
  await page.goto('/shipments/' + uuid().slice(0, 6));
  const label = await page.evaluate(() => document.querySelector('.label')!.textContent);
  expect(label).toMatch(/^\d{20}$/);
});
