import { app, expect, test } from '../app';

const shop = app.shop.replace(/\/runs$/, '');

test('a pull request shows what it changes, what its tests said, and can be talked about', async ({ page }, info) => {
  await page.goto(`${shop}/pulls`);
  await page.getByRole('link', { name: /Expect the price/ }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Expect the price that the page shows');
  await expect(page.locator('.lines .add ins')).toContainText("price = '5.40'");
  await expect(page.locator('.lines .drop del')).toContainText("price = '4.50'");
  await expect(page.getByLabel('Statuses')).toContainText('tas/tea-shop');
  await expect(page.getByLabel('Description').locator('b')).toHaveCount(0); // raw HTML is not shown as such
  await page.getByRole('textbox', { name: /^Comment/ }).fill(`Looks right, **says** ${info.project.name}. <script>alert(1)</script>`);
  await page.getByRole('button', { name: 'Say it' }).click();
  await expect(page.getByRole('article').filter({ hasText: `says ${info.project.name}` }).locator('strong')).toHaveText('says');
});

test('the connection to a forge is set, checked and keeps its secrets', async ({ page }) => {
  await page.goto('/new-project');
  await page.getByLabel('Name').fill(`Forge ${Date.now()}`);
  await page.getByLabel('Address').fill('https://git.invalid/shop/tests.git');
  await page.getByRole('main').getByRole('button').last().click();
  await page.getByRole('link', { name: 'Pull requests' }).click();
  const field = (name: string) => page.locator(`[name="${name}"]`);
  const main = page.getByRole('main');
  await field('kind').selectOption('gitea');
  await field('token').fill('tok-s3cret');
  await field('sources').fill('shop');
  await main.getByRole('button', { name: 'Save' }).click();
  await expect(page.locator('#trouble')).toContainText('owner/repository');
  await expect(field('kind')).toHaveValue('gitea'); // what was entered is not lost, but for secrets
  await field('sources').fill('shop/web');
  await field('token').fill('tok-s3cret');
  await main.getByRole('button', { name: 'Save' }).click();
  await expect(page.locator('#flash')).toContainText('Saved');
  await page.getByRole('button', { name: 'Check the connection' }).click();
  await expect(page.locator('#checked')).toContainText('gitea at https://git.invalid');
  await expect(page.locator('#checked')).toContainText('Something is missing');
  await page.getByRole('button', { name: /Make (a|another) secret/ }).click();
  const secret = await page.locator('#webhooks pre').innerText();
  expect(secret.length).toBeGreaterThan(20);
  await page.getByRole('link', { name: 'Pull requests' }).first().click();
  await expect(page.locator('#webhooks')).toContainText('A secret is set');
  expect(await page.content()).not.toContain(secret);
  expect(await page.content()).not.toContain('tok-s3cret');
});
