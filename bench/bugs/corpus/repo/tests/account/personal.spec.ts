import { test, expect } from '@playwright/test';
import { LoginPage } from '../../pages/LoginPage';
import { email } from '../../helpers/data';

test.beforeEach(async ({ page }) => {
  const login = new LoginPage(page);
  await login.goto('?next=/profile');
  await login.login(email('personal'));
});

//#bug login-session-expired
test('personal offers', async ({ page }) => {
  await page.goto('/offers');
  await expect(page.getByText('For you')).toBeVisible();
});

//#bug login-session-expired
test('personal recommendations', async ({ page }) => {
  await page.goto('/recommendations');
  await expect(page.getByText('You may like')).toBeVisible();
});
