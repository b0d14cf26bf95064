import { expect, owner, test } from '../fixtures';
import { SignInPage } from '../pages/signin';
import { customer, nobody } from '../people';

test.describe('Sign-in', { tag: '@account', annotation: owner('account-team') }, () => {
  test.use({ storageState: nobody });

  test('greets who signs in', { tag: '@smoke' }, async ({ page }) => {
    const signIn = new SignInPage(page);
    await signIn.open();
    await signIn.signIn(customer);
    await expect(signIn.account).toHaveText(customer.name);
    await expect(page.getByRole('status', { name: 'Messages' })).toContainText('Welcome back, Ada');
  });

  test('refuses a wrong password', async ({ page }) => {
    const signIn = new SignInPage(page);
    await signIn.open();
    await signIn.signIn({ email: customer.email, password: 'evening-tea' });
    await expect(signIn.alert).toHaveText('Email or password is wrong');
    await expect(page.getByLabel('Email')).toHaveValue(customer.email);
  });

  test('goes on to the page that was asked for', async ({ page }) => {
    await page.goto('/orders/ML-1003');
    await new SignInPage(page).signIn(customer);
    await expect(page).toHaveURL('/orders/ML-1003');
  });
});

test('Signing out ends the session', { tag: '@account', annotation: owner('account-team') }, async ({ page }) => {
  await page.goto('/cart');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByRole('link', { name: 'Sign in' })).toBeVisible();
  await page.goto('/orders');
  await expect(page).toHaveURL(/\/signin/);
});
