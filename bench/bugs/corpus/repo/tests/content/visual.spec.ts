import { test, expect } from '@playwright/test';

//#bug shot-hero-colour 3
test('hero looks right', async ({ page }) => {
  await page.goto('/home-hero');
  await expect(page.locator('#hero')).toHaveScreenshot('hero.png');
});

//#bug shot-footer-size 1
test('footer looks right', async ({ page }) => {
  await page.goto('/footer-shot');
  await expect(page.locator('#foot')).toHaveScreenshot('footer.png');
});

//#bug shot-price-card 2
test('price card looks right', async ({ page }) => {
  await page.goto('/price-card');
  await expect(page.locator('.price-card')).toHaveScreenshot('price-card.png');
});

//#bug shot-new-missing 1
test('newsletter looks right', async ({ page }) => {
  await page.goto('/newsletter');
  await expect(page).toHaveScreenshot('newsletter.png');
});
