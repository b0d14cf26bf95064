import { test, expect } from '@playwright/test';

async function openTerms(page: any) {
  await page.goto('/faq');
  const popup = page.waitForEvent('popup');
  await page.evaluate(() => { const w = window.open('/newsletter')!; setTimeout(() => w.close(), 700); });
  return popup;
}

//#bug terms-window-closes 3
test('terms can be accepted', async ({ page }) => {
  const terms = await openTerms(page);
  await terms.getByRole('button', { name: 'Accept terms' }).click();
});

//#bug terms-window-closes
test('terms can be printed', async ({ page }) => {
  const terms = await openTerms(page);
  await terms.getByRole('button', { name: 'Print terms' }).click();
});

//#bug newsletter-agree-uncheckable 3
test('newsletter needs consent', async ({ page }) => {
  await page.goto('/newsletter');
  await page.getByLabel('I agree').check();
});
