import { test, expect } from '@playwright/test';
import { drained } from '../../helpers/queue';

//#bug forecast-chart-not-drawn 4
test('chart is drawn', async ({ page }) => {
  await page.goto('/admin/forecast');
  await page.getByRole('button', { name: 'Draw' }).click();
  await page.waitForSelector('.chart svg', { timeout: 3000 });
});

//#bug forecast-chart-not-drawn
test('chart of last year is drawn', async ({ page }) => {
  await page.goto('/admin/forecast?year=2025');
  await page.getByRole('button', { name: 'Draw' }).click();
  await page.waitForSelector('.chart svg', { timeout: 3000 });
});

//#bug report-stays-queued 3 65
test('report is finished', async ({ page }) => {
  test.setTimeout(5000);
  await page.goto('/admin/reports');
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.locator('.state')).toHaveText('done', { timeout: 20000 });
});

//#bug report-stays-queued
test('big report is finished', async ({ page }) => {
  await page.goto('/admin/reports?rows=100000');
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.locator('.state')).toHaveText('done');
});

//#bug yearly-report-slow 3
test('yearly report opens', async ({ page }) => {
  await page.goto('/admin/reports/yearly/2025', { timeout: 3000 });
});

//#bug yearly-report-slow
test('yearly report of 2024 opens', async ({ page }) => {
  await page.goto('/admin/reports/yearly/2024', { timeout: 3000 });
  await expect(page.locator('h1')).toHaveText('2024');
});

//#bug analytics-page-slow 2
test('analytics open', async ({ page }) => {
  await page.goto('/admin/analytics', { timeout: 4000 });
});

//#bug report-queue-hangs 3 65
test('queue is empty at night', async () => {
  test.setTimeout(4000);
  await drained('reports');
});

//#bug report-queue-hangs
test('queue is empty after a restart', async () => {
  test.setTimeout(5000);
  await drained('reports-restart');
});

//#bug export-connection-closed 3
test('export opens', async ({ page }) => {
  await page.goto('/admin/export?format=csv');
});

//#bug export-connection-closed
test('export of users opens', async ({ page }) => {
  await page.goto('/admin/export?format=xlsx&of=users');
  await expect(page.getByText('Ready')).toBeVisible();
});
