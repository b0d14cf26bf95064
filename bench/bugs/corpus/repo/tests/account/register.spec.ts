import { test, expect } from '@playwright/test';
import { email } from '../../helpers/data';

async function register(page: any, address: string) {
  await page.goto('/register');
  await page.getByLabel('Email').fill(address);
  await page.getByLabel('Password').fill('correct horse');
  await page.getByRole('button', { name: 'Create account' }).click();
}

//#bug register-password-strict 4
test('new customer', async ({ page }) => {
  await register(page, email('new'));
});

//#bug register-password-strict
test('customer with a long address', async ({ page }) => {
  await register(page, email('a-very-long-name-of-a-customer'));
});

//#bug register-welcome-hidden 2
test('welcome is shown', async ({ page }) => {
  await page.goto('/register');
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.getByText('Welcome')).toBeVisible();
});
