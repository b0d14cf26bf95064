import { test, expect } from '@playwright/test';
import { AppShell } from '../../pages/AppShell';
import { sku } from '../../helpers/data';

test.beforeEach(async ({ page }) => {
  await page.goto(process.env.BACKOFFICE_URL + '/stock');
});

//#bug backoffice-down
test('stock can be counted', async ({ page }) => {
  await page.getByLabel(sku()).fill('3');
});

//#bug backoffice-down
test('stock can be corrected', async ({ page }) => {
  await new AppShell(page).open('/stock/correct');
});
