import { test, expect } from '@playwright/test';
import { LoginPage } from '../../pages/LoginPage';

//#bug login-session-expired
test('a parcel can be returned', async ({ page }) => {
  const login = new LoginPage(page);
  await login.goto();
  await login.login('return@example.test');
  await page.getByText('Return').click();
});

//#bug order-status-pending
test('returned order is shipped again', async ({ page }) => {
  await page.goto('/orders/R4711');
  await expect(page.getByTestId('status')).toHaveText('Shipped');
});

//#bug loginadmin-not-a-function 3
test('staff accepts a return', async ({ page }) => {
  const login = new LoginPage(page) as any;
  await login.goto();
  await login.loginAsAdmin();
});

//#bug loginadmin-not-a-function
test('staff refuses a return', async ({ page }) => {
  const login = new LoginPage(page) as any;
  await login.goto('?role=staff');
  await login.loginAsAdmin('refuse');
});

//#bug return-label-undeclared 1
test('return label has a code', async ({ page }) => {
  await page.goto('/returns');
  // @ts-ignore
  expect(returnLabel.code).toBe('R-1');
});
