import { test, expect } from '@playwright/test';

//#bug search-no-results
test('colour filter leaves four lamps', async ({ page }) => {
  await page.goto('/search?q=lamp&colour=red');
  const results = page.locator('.results > li');
  await expect(results).toHaveCount(4);
});

//#bug search-sort-newest-option 2
test('sort by newest', async ({ page }) => {
  await page.goto('/search?q=lamp');
  await page.getByLabel('Sort').selectOption('Newest');
});

//#bug search-api-not-called
test('price filter asks the server', async ({ page }) => {
  await page.goto('/search?q=chair');
  const answer = page.waitForResponse(/\/api\/search\?/, { timeout: 2500 });
  await page.getByRole('button', { name: 'Apply filters' }).click();
  expect((await answer).ok()).toBe(true);
});

//#bug hit-counter-language 1
test('number of hits is shown', async ({ page }) => {
  await page.goto('/search?q=lamp');
  await expect(page.locator('.count')).toContainText('42 hits');
});
