import { test, expect } from '@playwright/test';
import { trouverCommande } from '../../helpers/intl';
import { email, orderNo } from '../../helpers/data';

//#bug fr-panier-vide 4
test('panier vide affiche un message', async ({ page }) => {
  await page.goto('/fr/panier');
  await expect(page.getByText('Votre panier est vide')).toBeVisible();
});

//#bug fr-panier-vide
test('panier vidé affiche un message', async ({ page }) => {
  await page.goto('/fr/panier?vider=1');
  await expect(page.getByText('Votre panier est vide')).toBeVisible();
});

//#bug fr-remise-soldes 4 56
test('remise des soldes', async ({ page }) => {
  await page.goto('/fr/panier?code=SOLDES');
  await expect(page.locator('p.remise')).toHaveText('-15 %');
});

//#bug fr-remise-soldes
test('remise de fidélité', async ({ page }) => {
  await page.goto('/fr/panier?code=FIDELE');
  await expect(page.locator('p.remise')).toHaveText('-20 %');
});

//#bug fr-commande-introuvable 5
test('commande retrouvée par son numéro', async () => {
  trouverCommande([], orderNo(), email('client'));
});

//#bug fr-commande-introuvable
test('commande annulée reste visible', async () => {
  trouverCommande(['1'], orderNo(), email('client'));
});

//#bug fr-point-relais 3
test('livraison en point relais', async ({ page }) => {
  await page.goto('/fr/livraison');
  await page.getByLabel('Point relais').check();
});

//#bug fr-code-postal 2
test('code postal repris', async ({ page }) => {
  await page.goto('/fr/livraison');
  await expect(page.getByLabel('Code postal')).toHaveValue('75011');
});

//#bug fr-solde 1
test('solde du compte', async ({ page }) => {
  await page.goto('/fr/compte');
  await expect(page.locator('.solde'), 'le solde doit être à jour').toHaveText('25,00 €');
});
