import { test, expect } from '@playwright/test';
import { sprawdzRabat } from '../../helpers/intl';
import { email } from '../../helpers/data';

//#bug pl-blad-platnosci 4
test('płatność kartą', async ({ page }) => {
  await page.goto('/pl/platnosc?metoda=karta');
  await expect(page.locator('p.komunikat')).toContainText('Zamówienie zostało przyjęte');
});

//#bug pl-blad-platnosci
test('płatność BLIK', async ({ page }) => {
  await page.goto('/pl/platnosc?metoda=blik');
  await expect(page.locator('p.komunikat')).toContainText('Zamówienie zostało przyjęte');
});

//#bug pl-rabat-brak 3
test('rabat letni', async () => {
  sprawdzRabat('LATO2026', email('klient'));
});

//#bug pl-rabat-brak
test('rabat zimowy', async () => {
  sprawdzRabat('ZIMA2026', email('klient'));
});

//#bug pl-kod-pocztowy 1
test('adres z kodem pocztowym', async ({ page }) => {
  await page.goto('/pl/adres');
  await page.getByPlaceholder('Kod pocztowy').fill('00-950');
});
