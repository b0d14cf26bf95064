import { test, expect } from '@playwright/test';
import { LoginPage } from '../../pages/LoginPage';
import { email } from '../../helpers/data';

//#bug login-session-expired 12 mix
test('customer signs in', async ({ page }) => {
  const login = new LoginPage(page);
  await login.goto();
  await login.login(email('anna'));
  await expect(page.getByText('Hello')).toBeVisible();
});

//#bug login-session-expired
test('staff signs in', async ({ page }) => {
  const login = new LoginPage(page);
  await login.goto();
  await login.login('staff@example.test', 'x'.repeat(12));
});

//#bug login-verify-device 1 56
test('user with second factor signs in', async ({ page }) => {
  const login = new LoginPage(page);
  await login.goto();
  await login.login(email('mfa-user'));
});

//#bug login-forgot-link 2
test('forgotten password', async ({ page }) => {
  await page.goto('/login');
  await page.getByRole('link', { name: 'Forgot password?' }).click();
});

//#bug login-lockout-message 1
test('locked after five attempts', async ({ page }) => {
  await page.goto('/login?attempt=5');
  await expect(page.getByRole('alert')).toContainText('locked for 15 minutes');
});
