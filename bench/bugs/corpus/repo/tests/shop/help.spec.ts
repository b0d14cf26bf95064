import { test, expect } from '@playwright/test';

for (const topic of ['Returns', 'Payments']) {
  //#bug chat-widget-intercepts 4 x2
  test(`topic ${topic} opens`, async ({ page }) => {
    await page.goto('/help');
    await page.getByRole('button', { name: topic }).click();
    await expect(page.getByRole('article')).toContainText(topic);
  });
}

//#bug chat-widget-intercepts
test('support can be contacted', async ({ page }) => {
  await page.goto('/help');
  await page.getByRole('link', { name: 'Contact support' }).click({ timeout: 3500 });
});

//#bug help-chat-greeting 1
test('chat greets', async ({ page }) => {
  await page.goto('/help');
  await expect(page.frameLocator('#support-chat').locator('body')).toContainText('How can we help?');
});
