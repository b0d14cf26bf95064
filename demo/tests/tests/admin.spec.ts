import { expect, owner, test } from '../fixtures';
import { AdminPage } from '../pages/admin';
import { administrator } from '../people';

test.describe('Administration', { tag: '@admin', annotation: owner('back-office-team') }, () => {
  test.use({ storageState: administrator.state });

  test('changes a price', async ({ page, product }) => {
    const admin = new AdminPage(page);
    await admin.openProducts();
    await admin.save('Tide Mug', { price: '16.50' });
    await expect(admin.message).toContainText('Tide Mug saved');
    await product.open('tide-mug');
    await expect(product.price).toHaveText('€16.50');
  });

  test('sells out when the stock is 0', async ({ page, product }) => {
    const admin = new AdminPage(page);
    await admin.openProducts();
    await admin.save('Clay Teapot', { stock: '0' });
    await product.open('clay-teapot');
    await expect(product.stock).toHaveText('Sold out');
  });

  test('moves an order on', { tag: '@orders' }, async ({ page }) => {
    const admin = new AdminPage(page);
    await admin.openOrders();
    await admin.setStatus('ML-1004', 'Packed');
    await expect(admin.message).toContainText('ML-1004 is now Packed');
    await expect(admin.row('ML-1004').getByRole('cell').nth(3)).toHaveText('Packed');
  });
});

test('Customers may not see the administration', { tag: ['@admin', '@smoke'], annotation: owner('back-office-team') }, async ({ page }) => {
  const answer = await page.goto('/admin');
  expect(answer?.status()).toBe(403);
  await expect(page.getByRole('heading', { name: 'Only administrators may see this page' })).toBeVisible();
});
