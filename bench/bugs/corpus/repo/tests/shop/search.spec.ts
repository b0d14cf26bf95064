import { test, expect } from '@playwright/test';

for (const word of ['lamp', 'chair', 'desk']) {
  //#bug search-no-results 7 mix x3
  test(`search for ${word}`, async ({ page }) => {
    await page.goto(`/search?q=${word}`);
    await expect(page.locator('.results > li')).toHaveCount(10);
  });
}

//#bug search-suggest-hidden 3
test('suggestions appear while typing', async ({ page }) => {
  await page.goto('/search');
  await page.getByRole('textbox', { name: 'Search' }).fill('la');
  await expect(page.locator('ul.suggest')).toBeVisible();
});

//#bug search-suggest-hidden
test('suggestions can be chosen', async ({ page }) => {
  await page.goto('/search?q=');
  await page.getByRole('textbox', { name: 'Search' }).fill('de');
  await expect(page.locator('ul.suggest')).toBeVisible();
  await page.getByText('desk').click();
});

//#bug search-server-error 3
test('percent sign is searched for', async ({ page }) => {
  const response = await page.goto('/search?q=%25');
  expect(response!.status()).toBe(200);
});

//#bug search-server-error
test('long word is searched for', async ({ page }) => {
  const response = await page.goto('/search?q=crash' + 'x'.repeat(20));
  expect(response!.status()).toBe(200);
});

//#bug search-api-not-called 3
test('filters ask the server', async ({ page }) => {
  await page.goto('/search?q=lamp');
  const answer = page.waitForResponse(/\/api\/search\?/, { timeout: 3000 });
  await page.getByRole('button', { name: 'Apply filters' }).click();
  await answer;
});

//#bug recommendations-not-called 2
test('more like this asks the server', async ({ page }) => {
  await page.goto('/search?q=lamp');
  const answer = page.waitForResponse(/\/api\/recommendations/, { timeout: 3000 });
  await page.getByRole('button', { name: 'More like this' }).click();
  await answer;
});

//#bug search-sort-price 4
test('cheapest first', async ({ page }) => {
  await page.goto('/search?q=lamp&sort=price');
  const prices = (await page.locator('.prices li').allInnerTexts()).map(t => Number(t.slice(2)));
  expect(prices).toEqual([...prices].sort((a, b) => a - b));
});

//#bug search-pagination 2
test('a long result has pages', async ({ page }) => {
  await page.goto('/search?q=a');
  await expect(page.locator('.pagination a')).toHaveCount(5);
});
