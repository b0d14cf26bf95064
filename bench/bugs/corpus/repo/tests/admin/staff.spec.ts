import { test, expect } from '@playwright/test';
import { UsersPage } from '../../pages/UsersPage';

//#bug users-edit-removed
test('colleague gets a new role', async ({ page }) => {
  const users = new UsersPage(page);
  await users.open('colleague@example.test');
  await users.edit('colleague@example.test');
});

//#bug users-delete-no-dialog
test('colleague leaves', async ({ page }) => {
  const users = new UsersPage(page);
  await users.open('leaver@example.test');
  await page.getByRole('button', { name: 'Delete user' }).click();
  await users.expectConfirmation();
});
