import { administrator, app, expect, test as setup } from '../app';

setup('the first start leads to an administrator', async ({ page }) => {
  await page.goto(app.welcome);
  await page.getByLabel('Your name').fill(administrator.name);
  await page.getByLabel('E-mail').fill(administrator.email);
  await page.getByLabel('Password').fill(administrator.password);
  await page.getByRole('button', { name: 'Create the account' }).click();
  await expect(page.getByRole('heading', { name: 'Projects' })).toBeVisible();
  await page.context().storageState({ path: '.auth/administrator.json' });

  // The link works once.
  await page.context().clearCookies();
  await page.goto(app.welcome);
  await expect(page.getByRole('button', { name: 'Create the account' })).toHaveCount(0);
});
