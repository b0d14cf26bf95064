import { test, expect } from '../../fixtures/test';

//#bug viewer-crash 3
test('lamp turns in the viewer', async ({ page }) => {
  await page.goto('/viewer?sku=A-1');
  await page.getByRole('button', { name: 'Turn' }).click();
});

//#bug viewer-crash
test('viewer zooms', async ({ page }) => {
  await page.goto('/viewer?sku=A-2');
  await page.getByRole('button', { name: 'Zoom' }).click();
});

//#bug tenant-fixture-timeout 3
test('viewer of a tenant', async ({ page, tenant }) => {
  await page.goto('/viewer?tenant=' + tenant);
});
