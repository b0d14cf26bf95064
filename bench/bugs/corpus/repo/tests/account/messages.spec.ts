import { test, expect } from '@playwright/test';

//#bug messages-unread 2
test('nothing is unread after reading', async ({ page }) => {
  await page.goto('/messages?read=all');
  const unread = Number(await page.locator('.unread-count').innerText());
  expect(unread).toBe(0);
});

//#bug messages-inbox-length 1
test('inbox has three messages', async ({ page }) => {
  await page.goto('/messages');
  const subjects = await page.locator('.inbox li').allInnerTexts();
  expect(subjects).toHaveLength(3);
});

//#bug ticket-sent-alert 3
test('ticket is sent', async ({ page }) => {
  await page.goto('/support/ticket');
  await page.getByRole('button', { name: 'Send ticket' }).click();
  await expect(page.locator('[role=alert]'), 'the customer sees that the ticket was sent').toBeVisible();
});

//#bug ticket-sent-alert
test('second ticket is sent', async ({ page }) => {
  await page.goto('/support/ticket?n=2');
  await page.getByRole('button', { name: 'Send ticket' }).click();
  await expect(page.locator('[role=alert]'), 'the customer sees that the ticket was sent').toBeVisible();
});
