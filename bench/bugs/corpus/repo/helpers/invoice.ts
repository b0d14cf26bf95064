import { expect, type Page } from '@playwright/test';

export async function checkInvoice(page: Page, no: string, expected: number) {
  await page.goto(`/invoices/${no}`);
  const total = Number(await page.locator('#invoice-total').getAttribute('data-amount'));
  expect(total).toBe(expected);
}

export async function checkLine(page: Page, no: string, line: number, quantity: string) {
  await page.goto(`/invoices/${no}`);
  const cell = page.locator(`//table[@id="lines"]//tr[${line}]/td[2]`);
  await expect(cell).toHaveText(quantity);
}
