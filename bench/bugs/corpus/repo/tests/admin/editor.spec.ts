import { test, expect } from '@playwright/test';

//#bug editor-save-disabled 4 65
test('text can be saved', async ({ page }) => {
  await page.goto('/admin/editor');
  await page.locator('textarea').fill('Hello');
  await page.getByRole('button', { name: 'Save' }).click();
});

//#bug editor-save-disabled
test('long text can be saved', async ({ page }) => {
  await page.goto('/admin/editor?long=1');
  await page.locator('textarea').fill('Hello '.repeat(50));
  await page.getByRole('button', { name: 'Save' }).click();
});

//#bug editor-delete-strict 3
test('draft can be deleted', async ({ page }) => {
  await page.goto('/admin/editor');
  await page.getByRole('button', { name: 'Delete' }).click();
});

//#bug editor-autosave 2
test('draft is saved by itself', async ({ page }) => {
  await page.goto('/admin/editor');
  await page.locator('textarea').fill('Draft');
  await expect(page.getByText('Saved', { exact: true })).toBeVisible();
});
