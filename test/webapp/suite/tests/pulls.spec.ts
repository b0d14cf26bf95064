import { app, expect, test } from '../app';

const shop = app.shop.replace(/\/runs$/, '');
const empty = app.empty.replace(/\/runs$/, '');

test('a pull request shows what it changes, what its tests said, and can be talked about', async ({ page }, info) => {
  await page.goto(`${shop}/pulls`);
  await page.getByRole('link', { name: /Expect the price/ }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Expect the price that the page shows');
  await expect(page.locator('.lines .add ins')).toContainText("price = '5.40'");
  await expect(page.locator('.lines .drop del')).toContainText("price = '4.50'");
  await expect(page.getByLabel('Statuses')).toContainText('tas/tea-shop');
  await expect(page.getByLabel('Description').locator('b')).toHaveCount(0); // raw HTML is not shown as such
  await page.getByLabel('Comment').fill(`Looks right, **says** ${info.project.name}. <script>alert(1)</script>`);
  await page.getByRole('button', { name: 'Say it' }).click();
  await expect(page.getByRole('article').filter({ hasText: `says ${info.project.name}` }).locator('strong')).toHaveText('says');
});

test('the connection to a forge is set, checked and keeps its secrets', async ({ page }, info) => {
  await page.goto(`${empty}/settings`);
  await page.getByLabel('Address').fill('https://git.invalid/shop/tests.git');
  await page.locator('#repository').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'Pull requests' }).click();
  await page.getByLabel('Kind').selectOption('gitea');
  await page.getByLabel('Token').fill('tok-s3cret');
  await page.getByLabel("The application's repositories").fill('shop');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.locator('#trouble')).toContainText('owner/repository');
  await page.getByLabel("The application's repositories").fill('shop/web');
  await page.getByLabel('Token').fill('tok-s3cret');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.locator('#flash')).toContainText('Saved');
  await page.getByRole('button', { name: 'Check the connection' }).click();
  await expect(page.locator('#checked')).toContainText('gitea at https://git.invalid');
  await page.getByRole('button', { name: /Make (a|another) secret/ }).click();
  const secret = await page.locator('#webhooks pre').innerText();
  expect(secret.length).toBeGreaterThan(20);
  await page.reload();
  await page.goto(`${empty}/settings/pulls`);
  await expect(page.locator('#webhooks')).toContainText('A secret is set');
  expect(await page.content()).not.toContain(secret);
  expect(await page.content()).not.toContain('tok-s3cret');
  await page.goto(`${empty}/settings`); // as it was, for who comes next
  await page.getByLabel('Address').fill('');
  await page.locator('#repository').getByRole('button', { name: 'Save' }).click();
});
