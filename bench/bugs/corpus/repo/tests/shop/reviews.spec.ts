import { test, expect } from '@playwright/test';

//#bug review-button-moving 3
test('a review can be written', async ({ page }) => {
  await page.goto('/reviews');
  await page.getByRole('button', { name: 'Write a review' }).click();
});

//#bug review-button-moving
test('a review needs stars', async ({ page }) => {
  await page.goto('/reviews?sku=A-1');
  await page.getByRole('button', { name: 'Write a review' }).click();
  await page.getByLabel('Stars').fill('5');
});

//#bug review-score 2 56
test('average of the stars', async ({ page }) => {
  await page.goto('/reviews');
  const score = Number(await page.locator('.stars').getAttribute('data-score'));
  expect(score).toBeCloseTo(4.25, 2);
});

//#bug loyalty-points-rounding 1
test('points are whole', async ({ request }) => {
  const response = await request.get(`${process.env.API_URL}/api/loyalty/me`);
  const { points } = await response.json();
  expect(points).toBeCloseTo(Math.round(points), 2);
});
