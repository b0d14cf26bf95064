import { test, expect } from '@playwright/test';

//#bug de-lieferdatum-format 4
test('Lieferung an Heiligabend', async ({ page }) => {
  await page.goto('/de/bestellung?tag=24.12.2026');
  await expect(page.locator('.lieferdatum')).toHaveText('24.12.2026');
});

//#bug de-lieferdatum-format
test('Lieferung am Nikolaustag', async ({ page }) => {
  await page.goto('/de/bestellung?tag=06.12.2026');
  await expect(page.locator('.lieferdatum')).toHaveText('06.12.2026');
});

//#bug de-umlaute-kaputt
test('Meldung zur Rückgabe', async ({ page }) => {
  await page.goto('/de/bestellung');
  await expect(page.locator('.meldung')).toContainText('Rückgabe innerhalb von 14 Tagen');
});

//#bug de-rechnung-haengt 3
test('Rechnung wird erstellt', async ({ page }) => {
  await page.goto('/de/bestellung');
  await expect(page.locator('.rechnung')).toHaveText(/Rechnung R-\d{6} herunterladen/, { timeout: 4000 });
});

//#bug de-anmelden-platzhalter 4 65
test('Anmeldung mit E-Mail-Adresse', async ({ page }) => {
  await page.goto('/de/anmelden');
  await page.getByPlaceholder('E-Mail-Adresse').fill('kunde@example.test');
});

//#bug de-anmelden-platzhalter
test('Anmeldung mit falschem Passwort', async ({ page }) => {
  await page.goto('/de/anmelden');
  await page.getByPlaceholder('E-Mail-Adresse').fill('falsch@example.test');
  await page.getByPlaceholder('Passwort').fill('falsch');
});

//#bug de-kundenkonto-fehler 3
test('Kundenkonto öffnet sich', async ({ page }) => {
  await page.goto('/de/kundenkonto');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Mein Kundenkonto');
});
