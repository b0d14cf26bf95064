import { app, expect, test } from '../app';

test('the API key is shown when asked for, rotated, and the old one stops', async ({ page, request }) => {
  const me = (key: string) => request.get(`${app.api}/public-api/v1/me`, { headers: { Authorization: `Bearer ${key}` } });
  expect((await me(app.apiKey)).status()).toBe(200);
  await page.goto(app.shop.replace(/runs$/, 'settings'));
  await expect(page.locator('#api-key')).toHaveCount(0);
  await page.getByRole('button', { name: 'Show the key' }).click();
  await expect(page.locator('#api-key')).toHaveText(app.apiKey);

  await page.getByText('Rotate the key', { exact: true }).first().click();
  await page.getByLabel('I will hand out the new key').check();
  await page.getByRole('button', { name: 'Rotate the key' }).click();
  await expect(page.getByText('The old key has stopped.')).toBeVisible();
  const fresh = (await page.locator('#api-key').textContent())!.trim();
  expect(fresh).not.toBe(app.apiKey);
  await expect.poll(async () => (await me(app.apiKey)).status()).toBe(401);
  expect((await me(fresh)).status()).toBe(200);

  await page.goto(app.shop.replace(/runs$/, 'settings/audit'));
  await expect(page.locator('main')).toContainText(/key/i);
  await expect(page.locator('main')).toContainText(/Ada Admin/);
});

test('the check of the tests repository says precisely what fails', async ({ page }) => {
  await page.goto(app.empty.replace(/runs$/, 'settings'));
  const repository = page.locator('#repository');
  await repository.getByRole('textbox', { name: 'Address', exact: true }).fill('file:///nowhere/at/all');
  await repository.getByRole('button', { name: 'Save', exact: true }).click();
  await page.locator('#repository').getByRole('button', { name: 'Check what is saved' }).click();
  await expect(page.locator('#checked')).toContainText('Runs would fail');
  await page.locator('#repository').getByRole('textbox', { name: 'Address', exact: true }).fill('');
  await page.locator('#repository').getByRole('button', { name: 'Save', exact: true }).click();
});

test('a collection by rule shows what it would hold while it is written', async ({ page }) => {
  await page.goto(app.shop.replace(/runs$/, 'collections/new'));
  const name = `Tea ${Date.now()}`;
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Text in the title').fill('tea');
  await expect(page.locator('#preview')).toContainText('price of tea');
  await page.getByRole('button', { name: 'Keep the collection' }).click();
  await page.goto(app.shop.replace(/runs$/, 'collections'));
  await expect(page.getByRole('link', { name })).toBeVisible();
});
