import { app, expect, test } from '../app';

const shop = app.shop.replace(/\/runs$/, '');

test('a repair is read, approved, and becomes a pull request', async ({ page }) => {
  await page.goto(`${shop}/sessions`);
  await page.getByRole('link', { name: /^to be approved/ }).click();
  await expect(page.locator('h1')).toContainText('the price of tea');
  await expect(page.getByRole('list', { name: 'Stages' }).getByRole('listitem')).toHaveCount(5);
  const finding = page.locator('#finding-0');
  await expect(finding.locator('del')).toContainText("locator('#tea')");
  await expect(finding.locator('ins')).toContainText("getByTestId('price-of-tea')");
  await expect(finding.getByRole('row')).toHaveCount(4);
  const shot = finding.locator('img');
  await shot.scrollIntoViewIfNeeded();
  await expect.poll(() => shot.evaluate((i: HTMLImageElement) => i.complete && i.naturalWidth), 'the page is seen').toBeGreaterThan(100);
  await expect(page.locator('#proof')).toContainText('3 of 3');
  await expect(page.locator('#change .add ins')).toContainText("price = '4.50'");
  await page.getByRole('link', { name: 'Approve or reject' }).click();
  await page.getByLabel('Note').fill('The price is right: <b>4.50</b>.');
  await page.getByRole('button', { name: 'Approve' }).click();
  // The page goes on by itself, without being loaded again.
  const head = page.locator('#head');
  await expect(head).toContainText('approved by Ada Admin');
  await expect(head).toContainText('The price is right: <b>4.50</b>.');
  await expect(head).toContainText('completed', { timeout: 30_000 });
  await expect(page.locator('#events')).toContainText(/Pull request #\d+ was opened/);
  await head.getByRole('link', { name: /^#\d+$/ }).click();
  await expect(page).toHaveURL(/\/pulls\/\d+$/);
  await expect(page.locator('.lines .add ins')).toContainText("price = '4.50'");
});

test('one failure of a run is healed from its page, and the session cancelled', async ({ page }) => {
  page.on('dialog', d => d.accept());
  await page.goto(app.sharded);
  await expect(page.getByRole('button', { name: 'Heal failures' })).toBeVisible();
  await page.locator('#failures').getByRole('link', { name: /price of coffee/ }).click();
  await page.getByRole('button', { name: 'Heal this failure' }).click();
  await expect(page.locator('#flash')).toContainText('The healing has begun');
  await expect(page.locator('h1')).toContainText('the price of coffee');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.locator('h1')).toContainText('cancelled', { timeout: 30_000 });
});
