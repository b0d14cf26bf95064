import { expect, owner, test } from '../fixtures';

test.describe('Cart', { tag: '@cart', annotation: owner('checkout-team') }, () => {
  test('is empty at first', async ({ cart }) => {
    await cart.open();
    await expect(cart.heading).toBeVisible();
    await expect(cart.emptyNote).toBeVisible();
  });

  test('keeps what was added on the product page', { tag: '@smoke' }, async ({ product, cart }) => {
    await product.open('tide-mug');
    await product.add(2);
    await expect(cart.badge).toHaveText('2');
    await cart.open();
    await expect(cart.quantityOf('Tide Mug')).toHaveText('2');
    await expect(cart.total).toHaveText('€32.90');
  });

  test('follows a changed quantity', async ({ cart, fillCart }) => {
    await fillCart({ 'sencha-spring': 1 });
    await cart.open();
    await cart.more('Sencha Spring');
    await expect(cart.quantityOf('Sencha Spring')).toHaveText('2');
    await expect(cart.subtotal).toHaveText('€28.00');
    await cart.less('Sencha Spring');
    await expect(cart.subtotal).toHaveText('€14.00');
  });

  test('lets go of what is removed', async ({ cart, fillCart }) => {
    await fillCart({ 'sencha-spring': 1, 'tide-mug': 1 });
    await cart.open();
    await cart.remove('Sencha Spring');
    await expect(cart.lines).toHaveCount(1);
    await expect(cart.total).toHaveText('€18.90');
  });

  test('asks before it is emptied', async ({ cart, fillCart }) => {
    await fillCart({ 'sencha-spring': 2, 'tide-mug': 1 });
    await cart.open();
    await cart.empty();
    await expect(cart.badge).toHaveText('0');
    await expect(cart.lines).toHaveCount(0);
  });

  for (const { code, discount, shipping, total } of [
    { code: 'WELCOME10', discount: '−€4.20', shipping: '€4.90', total: '€42.70' },
    { code: 'TEATIME', discount: '−€4.20', shipping: '€4.90', total: '€42.70' },
    { code: 'FREESHIP', discount: undefined, shipping: 'Free', total: '€42.00' },
  ]) {
    test(`takes the code ${code}`, { tag: '@discount' }, async ({ cart, fillCart }) => {
      await fillCart({ 'sencha-spring': 2, 'tide-mug': 1 });
      await cart.open();
      await cart.apply(code);
      if (discount) await expect(cart.discount).toHaveText(discount);
      else await expect(cart.discount).toBeHidden();
      await expect(cart.shipping).toHaveText(shipping);
      await expect(cart.total).toHaveText(total);
    });
  }

  test('refuses an expired code', { tag: '@discount' }, async ({ cart, fillCart }) => {
    await fillCart({ 'tide-mug': 1 });
    await cart.open();
    await cart.apply('SUMMER25');
    await expect(cart.codeError).toHaveText('The code SUMMER25 has expired');
    await expect(cart.total).toHaveText('€18.90');
  });
});
