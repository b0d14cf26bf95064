import { test, expect } from '@playwright/test';

//#bug aria-nav-prices 3
test('main navigation', async ({ page }) => {
  await page.goto('/nav-aria');
  await expect(page.getByRole('navigation')).toMatchAriaSnapshot(`
    - navigation "Main":
      - list:
        - listitem:
          - link "Products"
        - listitem:
          - link "Prices"
        - listitem:
          - link "Docs"
  `);
});

//#bug aria-footer-not-found 1
test('footer links', async ({ page }) => {
  await page.goto('/nav-aria?page=footer');
  await expect(page.getByRole('contentinfo')).toMatchAriaSnapshot(`
    - contentinfo:
      - paragraph: Contact
      - link "Imprint"
      - link "Privacy"
  `);
});
