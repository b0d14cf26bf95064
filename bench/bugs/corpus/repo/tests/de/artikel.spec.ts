import { test, expect } from '@playwright/test';

for (const [nr, preis] of [['a-1', '1.299,00 €'], ['a-2', '2.049,90 €'], ['a-3', '4.999,99 €']]) {
  //#bug de-preisformat 6 56 x3
  test(`Preis von Artikel ${nr}`, async ({ page }) => {
    await page.goto(`/de/artikel?nr=${nr}`);
    await expect(page.locator('.preis')).toHaveText(preis);
  });
}

//#bug de-umlaute-kaputt 5 65
test('Größe des Artikels', async ({ page }) => {
  await page.goto('/de/artikel');
  await expect(page.locator('.eigenschaft')).toContainText('Größe');
});

//#bug de-umlaute-kaputt
test('Hinweis am Artikel', async ({ page }) => {
  await page.goto('/de/artikel');
  await expect(page.locator('.hinweis')).toHaveText('Lieferverzögerung möglich');
});

//#bug de-in-den-warenkorb 1
test('Artikel kommt in den Warenkorb', async ({ page }) => {
  await page.goto('/de/artikel');
  await page.getByRole('button', { name: 'In den Warenkorb' }).click();
  await expect(page.getByText('wurde hinzugefügt')).toBeVisible();
});
