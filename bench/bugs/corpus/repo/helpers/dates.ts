import { expect, type Page } from '@playwright/test';

export const today = () => new Date().toISOString().slice(0, 10);

export async function expectPlacedOn(page: Page, day: string) {
  const placed = (await page.locator('.placed time').innerText()).trim();
  expect(placed).toBe(day);
}
