import { test, expect } from '@playwright/test';
import { UsersPage } from '../../pages/UsersPage';
import { email } from '../../helpers/data';

test.describe('users', () => {
  //#bug users-edit-removed 7 mix
  test('user can be renamed', async ({ page }) => {
    const users = new UsersPage(page);
    const address = email('rename');
    await users.open(address);
    await users.edit(address);
  });

  //#bug users-edit-removed
  test('user can be blocked', async ({ page }) => {
    const users = new UsersPage(page);
    const address = email('block');
    await users.open(address);
    await users.edit(address);
    await page.getByLabel('Blocked').check();
  });

  //#bug users-new-not-listed 4
  test('new user is listed', async ({ page }) => {
    const users = new UsersPage(page);
    await users.open();
    await users.expectListed(email('new'));
  });

  //#bug users-new-not-listed
  test('imported user is listed', async ({ page }) => {
    const users = new UsersPage(page);
    await users.open();
    await users.expectListed(email('import'));
  });

  //#bug users-columns 3
  test('table has four columns', async ({ page }) => {
    await page.goto('/admin/users');
    await expect(page.locator('table#users thead th')).toHaveCount(4);
  });

  //#bug users-delete-no-dialog 3
  test('deletion is confirmed', async ({ page }) => {
    const users = new UsersPage(page);
    await users.open();
    await page.getByRole('button', { name: 'Delete user' }).click();
    await users.expectConfirmation();
  });

  //#bug users-view-strict 2
  test('user can be viewed', async ({ page }) => {
    await page.goto('/admin/users');
    await page.getByRole('button', { name: 'View' }).click();
  });

  //#bug users-invite-title 1
  test('invitation has a title', async ({ page }) => {
    await page.goto('/admin/users');
    await page.getByRole('button', { name: 'Invite' }).click();
    await expect(page).toHaveTitle('Invite a colleague');
  });
});
