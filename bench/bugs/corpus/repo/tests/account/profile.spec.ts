import { test, expect } from '@playwright/test';
import path from 'node:path';
import { email } from '../../helpers/data';

//#bug profile-save-missing 3 65
test('name can be changed', async ({ page }) => {
  await page.goto('/profile');
  await page.getByLabel('Name').fill('Ann');
  await page.getByRole('button', { name: 'Save' }).click();
});

//#bug profile-save-missing
test('name can be emptied', async ({ page }) => {
  await page.goto('/profile');
  await page.getByLabel('Name').fill('');
  await page.getByRole('button', { name: 'Save' }).click();
});

//#bug profile-greeting-guest 4 56
test('greeting has the address', async ({ page }) => {
  const address = email('ann');
  await page.goto(`/profile?as=${address}`);
  await expect(page.locator('.greeting')).toHaveText(`Hello, ${address}`);
});

//#bug profile-greeting-guest
test('greeting has the name', async ({ page }) => {
  await page.goto('/profile?as=bob');
  await expect(page.locator('.greeting')).toHaveText('Hello, Bob Miller');
});

//#bug avatar-fixture-missing 2
test('avatar can be uploaded', async ({ page }) => {
  await page.goto('/profile');
  await page.getByLabel('Avatar').setInputFiles(path.join(__dirname, '../../fixtures/files/avatar.png'));
});

//#bug profile-avatar-src 1
test('avatar is shown', async ({ page }) => {
  await page.goto('/profile');
  await expect(page.getByAltText('avatar')).toHaveAttribute('src', /\/avatars\/\d+\.png/);
});
