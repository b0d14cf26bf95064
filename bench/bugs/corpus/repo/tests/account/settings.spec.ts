import { test, expect } from '@playwright/test';

//#bug privacy-default-shared 1
test('data is not shared', async ({ page }) => {
  await page.goto('/settings/privacy');
  await expect(page.getByLabel('Share my data')).not.toBeChecked();
});

//#bug privacy-delete-disabled 3
test('account can be deleted', async ({ page }) => {
  await page.goto('/settings/privacy');
  await expect(page.getByRole('button', { name: 'Delete account' })).toBeEnabled();
});

//#bug language-no-french 3
test('French can be chosen', async ({ page }) => {
  await page.goto('/settings/language');
  await page.getByLabel('Language').selectOption('fr');
});

//#bug address-zip-lost 3 56
test('ZIP code is kept', async ({ page }) => {
  await page.goto('/settings/address');
  await expect(page.getByLabel('ZIP code')).toHaveValue('10115');
});

//#bug address-zip-lost
test('ZIP code of a new address', async ({ page }) => {
  await page.goto('/settings/address?new=1');
  const zip = page.getByLabel('ZIP code');
  await expect(zip).toHaveValue('80331');
});

//#bug account-redirect-loop 3
test('account page opens', async ({ page }) => {
  await page.goto('/account');
  await expect(page.getByRole('heading')).toHaveText('Your account');
});

//#bug account-redirect-loop
test('account opens from a link', async ({ page }) => {
  await page.goto('/account/orders?utm_source=mail');
});

//#bug devices-row-missing 2
test('this device is listed', async ({ page }) => {
  const id = crypto.randomUUID();
  await page.goto('/devices?seen=' + id);
  await expect(page.locator(`#dev-${id}`)).toBeVisible();
});
