import { test, expect } from '@playwright/test';
import fs from 'node:fs';
import path from 'node:path';

//#bug import-dir-unset 2
test('products are imported', async ({ page }) => {
  const csv = fs.readFileSync(path.join(process.env.IMPORT_DIR!, 'products.csv'), 'utf8');
  await page.goto('/admin/upload');
  expect(csv).toContain('sku');
});

//#bug import-result-empty 3
test('result of the import is shown', async ({ page }) => {
  await page.goto('/admin/upload');
  await page.getByRole('button', { name: 'Start import' }).click();
  await expect(page.locator('p.result')).toHaveText(/\d+ rows imported/);
});

//#bug import-result-empty
test('empty import is allowed', async ({ page }) => {
  await page.goto('/admin/upload?empty=1');
  await page.getByRole('button', { name: 'Start import' }).click();
  await expect(page.locator('p.result')).toHaveText(/\d+ rows imported/);
});

//#bug kanban-drop 2
test('ticket moves to done', async ({ page }) => {
  await page.goto('/admin/kanban');
  await page.locator('.ticket').first().dragTo(page.locator('.col', { hasText: 'Done' }), { timeout: 3000 });
});

//#bug kanban-hover-menu 1
test('menu of a ticket', async ({ page }) => {
  await page.goto('/admin/kanban');
  await page.locator('.ticket').first().hover();
  await page.locator('.ticket .menu').waitFor({ timeout: 3000 });
});
