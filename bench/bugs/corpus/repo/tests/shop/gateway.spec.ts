import { test, expect } from '@playwright/test';
import { orderNo } from '../../helpers/data';

//#bug payment-gateway-dns 4
test('gateway accepts a card', async ({ page }) => {
  await page.goto(`https://pay.gateway.test/session/${orderNo()}`);
  await expect(page.getByText('accepted')).toBeVisible();
});

//#bug payment-gateway-dns
test('gateway declines a card', async ({ page }) => {
  await page.goto('https://pay.gateway.test/session/declined');
  await expect(page.getByText('declined')).toBeVisible();
});

//#bug partner-dns 2
test('partner shop opens', async ({ page }) => {
  await page.goto('https://lights.partner.test/');
  await expect(page.getByRole('heading')).toHaveText('Partner');
});

//#bug terminal-ssl 1
test('terminal has a certificate', async ({ page, baseURL }) => {
  await page.goto(baseURL!.replace('http:', 'https:') + '/terminal');
});
