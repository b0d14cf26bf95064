import { test, expect } from '@playwright/test';

//#bug roles-switch-off 3
test('second factor can be required', async ({ page }) => {
  await page.goto('/admin/roles');
  await page.getByRole('switch').click();
  await expect(page.getByRole('switch')).toHaveAttribute('aria-checked', 'true');
});

//#bug roles-tab-class 2
test('tab of editors is active', async ({ page }) => {
  await page.goto('/admin/roles?tab=editors');
  await expect(page.getByRole('button', { name: 'Editors' })).toHaveClass(/active/);
});

//#bug roles-dialog-stays 3
test('dialog closes', async ({ page }) => {
  await page.goto('/admin/roles');
  await page.getByRole('button', { name: 'Close' }).click();
  await expect(page.getByRole('dialog')).not.toBeVisible();
});

//#bug roles-dialog-focus 1
test('dialog takes the focus', async ({ page }) => {
  await page.goto('/admin/roles');
  await expect(page.getByRole('button', { name: 'Close' })).toBeFocused();
});

//#bug audit-entry-missing 4
test('change of a role is logged', async ({ page }) => {
  await page.goto('/admin/audit');
  await expect(page.locator('tbody tr', { hasText: 'role changed' })).toHaveCount(1);
});

//#bug audit-entry-missing
test('change of two roles is logged', async ({ page }) => {
  await page.goto('/admin/audit');
  await expect(page.locator('tbody tr', { hasText: 'role changed' })).toHaveCount(2);
});

//#bug audit-user-name 2
test('log names the user', async ({ page }) => {
  await page.goto('/admin/audit');
  await expect(page.locator('tbody td').nth(1)).toHaveText('admin@example.test');
});
