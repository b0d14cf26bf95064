import { test, expect } from '@playwright/test';
import { orderNo } from '../../helpers/data';
import { expectPlacedOn } from '../../helpers/dates';

test.describe('orders', () => {
  //#bug order-row-missing 6
  test('new order is listed', async ({ page }) => {
    const no = orderNo();
    await page.goto(`/orders?after=${no}`);
    await expect(page.getByTestId(`order-${no}`)).toBeVisible();
  });

  //#bug order-row-missing
  test('repeated order is listed', async ({ page }) => {
    const repeated = orderNo();
    await page.goto('/orders?repeat=1');
    await expect(page.getByTestId(`order-${repeated}`)).toBeVisible();
  });

  //#bug order-confirmed-text 4 65
  test('order is confirmed by name', async ({ page }) => {
    const no = orderNo();
    await page.goto(`/orders/${no}`);
    await expect(page.getByText(`Order ${no} confirmed`)).toBeVisible();
  });

  //#bug order-confirmed-text
  test('confirmation survives a reload', async ({ page }) => {
    const no = orderNo();
    await page.goto(`/orders/${no}`);
    await page.reload();
    await expect(page.getByText(`Order ${no} confirmed`)).toBeVisible();
  });

  //#bug order-status-pending 3
  test('paid order is shipped', async ({ page }) => {
    await page.goto(`/orders/${orderNo()}`);
    await expect(page.getByTestId('status')).toHaveText('Shipped');
  });

  //#bug order-placed-day 5 56
  test('order of 1 March', async ({ page }) => {
    await page.goto('/orders/10301');
    await expectPlacedOn(page, '2026-03-01');
  });

  //#bug order-placed-day
  test('order placed at midnight', async ({ page }) => {
    await page.goto('/orders/10302?tz=Europe/Berlin');
    await expectPlacedOn(page, '2026-03-01');
  });

  //#bug orders-export-no-download 3
  test('orders are exported', async ({ page }) => {
    await page.goto('/orders');
    const download = page.waitForEvent('download', { timeout: 3000 });
    await page.getByRole('button', { name: 'Export' }).click();
    expect((await download).suggestedFilename()).toBe('orders.csv');
  });

  //#bug orders-invoice-no-popup 2
  test('invoice opens in a new window', async ({ page }) => {
    await page.goto('/orders');
    const popup = page.waitForEvent('popup', { timeout: 3000 });
    await page.getByRole('button', { name: 'Open invoice' }).click();
    await popup;
  });

  //#bug orders-heading-empty 1
  test('page without orders says so', async ({ page }) => {
    await page.goto('/orders?user=new');
    await expect(page.getByRole('heading')).toHaveText('No orders yet');
  });
});
