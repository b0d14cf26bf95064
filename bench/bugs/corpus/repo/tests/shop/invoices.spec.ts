import { test, expect } from '@playwright/test';
import { checkInvoice, checkLine } from '../../helpers/invoice';

//#bug invoice-total-wrong 4
test('invoice has the total of the order', async ({ page }) => {
  await checkInvoice(page, '2026001', 118.4);
});

//#bug invoice-total-wrong
test('credit note has the total of the order', async ({ page }) => {
  await checkInvoice(page, '2026002', 59.9);
});

for (const line of [1, 2, 4]) {
  //#bug invoice-line-nan 5 x3
  test(`line ${line} has a quantity`, async ({ page }) => {
    await checkLine(page, '2026003', line, String(line));
  });
}

for (const no of ['2026010', '2026011']) {
  //#bug invoice-pdf-aborted 3 x2
  test(`invoice ${no} opens as PDF`, async ({ page }) => {
    const response = await page.goto(`/invoices/${no}.pdf`);
    expect(response!.headers()['content-type']).toBe('application/pdf');
  });
}
