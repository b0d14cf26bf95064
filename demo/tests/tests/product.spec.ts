import { expect, owner, test } from '../fixtures';

test.describe('Product page', { tag: '@catalogue', annotation: owner('catalogue-team') }, () => {
  test('shows what the product is', { tag: '@smoke' }, async ({ product, page }) => {
    await product.open('jasmine-pearls');
    await expect(product.title).toHaveText('Jasmine Pearls');
    await expect(product.price).toHaveText('€17.50');
    await expect(product.stock).toHaveText('In stock, posted tomorrow');
    await expect(page.getByRole('img', { name: 'Picture of Jasmine Pearls' })).toBeVisible();
  });

  test('adds several at once', { tag: '@cart' }, async ({ product, cart }) => {
    await product.open('harbour-blend');
    await product.add(3);
    await expect(product.message).toContainText('Harbour Blend added to your cart');
    await expect(cart.badge).toHaveText('3');
  });

  test('does not sell more than there is', { tag: '@cart' }, async ({ product, cart }) => {
    await product.open('hand-grinder');
    await expect(product.stock).toHaveText('Only 3 left');
    await product.add(4);
    await expect(product.message).toContainText('Only 3 of Hand Grinder left');
    await expect(cart.badge).toHaveText('0');
  });

  test('explains how to brew in a dialog', async ({ product, page }) => {
    await product.open('sencha-spring');
    await page.getByRole('button', { name: 'How to brew it' }).click();
    const guide = page.getByRole('dialog', { name: 'Brewing guide' });
    await expect(guide.getByRole('listitem')).toHaveCount(4);
    await guide.getByRole('button', { name: 'Close' }).click();
    await expect(guide).toBeHidden();
  });
});
