import { test, expect } from '@playwright/test';
import { AppShell } from '../../pages/AppShell';
import { orderNo } from '../../helpers/data';

//#bug backoffice-down 12 mix
test('back office opens', async ({ page }) => {
  await new AppShell(page).open('/');
  await expect(page).toHaveTitle('Back office');
});

//#bug backoffice-down
test('order in the back office', async ({ page }) => {
  await new AppShell(page).open(`/orders/${orderNo()}`);
  await expect(page.getByRole('heading')).toContainText('Order');
});

//#bug backoffice-down
test('customers in the back office', async ({ page }) => {
  const shell = new AppShell(page);
  await shell.open('/customers?page=2');
});
