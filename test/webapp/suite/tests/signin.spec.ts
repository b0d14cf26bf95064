import { administrator, app, expect, join, signIn, test } from '../app';

test.use({ storageState: { cookies: [], origins: [] } });

test('a stranger is asked who they are, and comes to where they wanted to go', async ({ page }) => {
  await page.goto(app.failed);
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await signIn(page, administrator.email, 'not the password at all');
  await expect(page.getByRole('alert')).toContainText(/password/i);
  await signIn(page);
  await expect(page).toHaveURL(app.failed);
  await expect(page.getByText('Failures by bug')).toBeVisible();

  await page.getByText(administrator.name).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.goto(app.failed);
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
});

test('a session that is ended elsewhere is over', async ({ page, browser }) => {
  const password = 'two slow grey rivers';
  const there = await join(browser, 'Mo Member', password, 'member');
  await page.goto('/sign-in');
  await signIn(page, 'mo@example.com', password);
  await expect(page.getByRole('heading', { name: 'Projects' })).toBeVisible();
  await page.goto('/profile');
  const others = page.getByRole('row').filter({ has: page.getByRole('button', { name: /^End the session/ }) }).filter({ hasNotText: 'this one' });
  await expect(others).toHaveCount(1);
  await others.getByRole('button').click();
  await expect(others).toHaveCount(0);
  await there.goto(app.failed);
  await expect(there.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await page.goto(app.failed);
  await expect(page.locator('h1')).toContainText(/failed/i);
  await there.context().close();
});

test('an invited viewer sees everything and changes nothing', async ({ browser }) => {
  const vera = await join(browser, 'Vera Viewer', 'five small blue boats', 'viewer');
  await vera.goto(app.failed);
  await expect(vera.getByText('Failures by bug')).toBeVisible();
  await expect(vera.getByRole('button', { name: 'Run again' })).toHaveCount(0);
  const answer = await vera.goto(app.shop.replace(/runs$/, 'runs/new'));
  expect(answer!.status()).toBe(403);
  expect((await vera.goto(app.empty))!.status(), 'another project does not exist for her').toBe(404);
  await vera.context().close();
});
