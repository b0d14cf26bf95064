import { test, expect } from '@playwright/test';
import { LoginPage } from '../../pages/LoginPage';
import { email } from '../../helpers/data';

//#bug login-password-label 6 65
test('tenant acme signs in', async ({ page }) => {
  const login = new LoginPage(page);
  await login.goto('?tenant=acme');
  await login.login(email('acme'));
});

//#bug login-password-label
test('tenant umbrella signs in', async ({ page }) => {
  const login = new LoginPage(page);
  await login.goto('?tenant=umbrella');
  await login.login(email('umbrella'));
});

//#bug login-password-label
test('tenant without page object', async ({ page }) => {
  await page.goto('/login?tenant=hooli');
  await page.getByLabel('Email').fill('h@example.test');
  await page.getByLabel('Password').fill('secret', { timeout: 3000 });
});

//#bug oauth-callback 2
test('access is allowed', async ({ page }) => {
  await page.goto('/oauth/start?client=crm');
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.waitForURL('**/oauth/callback?code=*', { timeout: 3000 });
});
