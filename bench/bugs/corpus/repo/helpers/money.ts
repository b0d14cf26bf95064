import { expect, type Page } from '@playwright/test';

export function parsePrice(text: string) {
  return Number(text.replace(/[^\d.]/g, ''));
}

/** Compares the order total that is shown with the one calculated here (19 % VAT). */
export async function expectTotal(page: Page, expected: number) {
  const text = await page.getByTestId('order-total').innerText();
  const total = parsePrice(text);
  expect(total).toBe(expected);
}

export const gross = (net: number) => Math.round(net * 119) / 100;

export async function expectBalance(page: Page, expected: number) {
  await page.goto('/gift');
  const total = parsePrice(await page.locator('.balance').innerText());
  expect(total).toBe(expected);
}
