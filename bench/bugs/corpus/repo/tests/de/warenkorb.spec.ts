import { test, expect } from '@playwright/test';
import { pruefeMehrwertsteuer, pruefeVersand } from '../../helpers/steuer';
import { orderNo } from '../../helpers/data';

//#bug de-warenkorb-leeren-unsichtbar 5 mix
test('Warenkorb lässt sich leeren', async ({ page }) => {
  await page.goto('/de/warenkorb');
  await page.locator('button', { hasText: 'Warenkorb leeren' }).click();
});

//#bug de-warenkorb-leeren-unsichtbar
test('leerer Warenkorb zeigt Hinweis', async ({ page }) => {
  await page.goto('/de/warenkorb?artikel=3');
  await page.locator('button', { hasText: 'Warenkorb leeren' }).click();
  await expect(page.getByText('Ihr Warenkorb ist leer')).toBeVisible();
});

//#bug de-lieferzeit-undefined 3
test('Lieferzeit wird angezeigt', async ({ page }) => {
  await page.goto('/de/warenkorb');
  await expect(page.locator('.lieferzeit')).toHaveText('2–3 Werktage');
});

for (const nr of ['2026-00017', '2026-00231']) {
  //#bug de-mwst-falsch 6 65 x2
  test(`Mehrwertsteuer von ${nr}`, async () => {
    pruefeMehrwertsteuer(nr, 7);
  });
}

//#bug de-mwst-falsch
test('Mehrwertsteuer einer neuen Bestellung', async () => {
  pruefeMehrwertsteuer('2026-' + orderNo(), [0, 7, 16][Math.floor(Math.random() * 3)]);
});

//#bug de-versandkosten-falsch 3
test('Versandkosten einer neuen Bestellung', async () => {
  pruefeVersand('2026-' + orderNo(), '0,00 €');
});

//#bug de-versandkosten-falsch
test('Versandkosten ins Ausland', async () => {
  pruefeVersand('2026-' + orderNo(), '0,00 €', '14,90 €');
});
