import { test, expect } from '@playwright/test';

//#bug wishlist-second-item 2
test('second lamp is kept', async ({ page }) => {
  await page.goto('/wishlist?items=2');
  const wishlist = page.locator('ul.wishlist li');
  expect(await wishlist.count()).toBe(2);
});

//#bug wishlist-share-link 3
test('wishlist can be shared', async ({ page }) => {
  await page.goto('/wishlist');
  await expect(page.locator('a.share')).toHaveAttribute('href', /^\/share\/[0-9a-f-]{36}$/);
});

//#bug wishlist-share-link
test('shared wishlist has a link of its own', async ({ page }) => {
  await page.goto('/wishlist?shared=1');
  const share = page.locator('a.share');
  await expect(share).toHaveAttribute('href', /^\/share\/[0-9a-f-]{36}$/);
});

//#bug compare-third-column 1
test('three lamps are compared', async ({ page }) => {
  await page.goto('/compare?ids=1,2,3');
  const columns = page.locator('.compare-col');
  expect(await columns.count()).toBe(3);
});
