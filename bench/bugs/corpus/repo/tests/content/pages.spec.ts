import { test, expect } from '@playwright/test';

//#bug about-404 1 56
test('about page', async ({ page }) => {
  await page.goto('/about');
  await expect(page.locator('h1')).toHaveText('About us');
});

//#bug contact-no-h1 2 56
test('contact page', async ({ page }) => {
  await page.goto('/contact');
  await expect(page.locator('h1')).toHaveText('Contact');
});

//#bug pricing-draft 1 65
test('pricing page', async ({ page }) => {
  await page.goto('/pricing');
  await expect(page.getByRole('heading')).toHaveText('Plans and prices');
});

//#bug careers-strict 2 65
test('careers page', async ({ page }) => {
  await page.goto('/careers');
  await expect(page.getByRole('heading')).toHaveText('Careers');
});

//#bug blog-title-undefined 1
test('blog has a title', async ({ page }) => {
  await page.goto('/blog');
  await expect(page).toHaveTitle('Nordlicht | Blog');
});

//#bug faq-answer-hidden 1
test('first answer opens', async ({ page }) => {
  await page.goto('/faq');
  await page.getByRole('heading').click();
  await expect(page.getByText('14 days')).toBeVisible();
});
