import { expect, owner, test } from '../fixtures';
import { SignInPage } from '../pages/signin';
import { customer, declinedCard, goodCard, home, nobody } from '../people';

test.describe('Checkout', { tag: '@checkout', annotation: owner('checkout-team') }, () => {
  test('takes an order', { tag: '@smoke' }, async ({ checkout, cart, fillCart }) => {
    await fillCart({ 'gooseneck-kettle': 1 });
    await cart.open();
    await cart.checkout();
    await checkout.fillAddress(home);
    await checkout.fillCard(goodCard);
    await checkout.placeOrder();
    await expect(checkout.thanks).toBeVisible();
    await expect(checkout.orderNumber).toHaveText('ML-1005');
    await expect(cart.badge).toHaveText('0');
  });

  test('charges what the cart said', async ({ checkout, cart, fillCart }) => {
    await fillCart({ 'sencha-spring': 2 });
    await cart.open();
    await expect(cart.total).toHaveText('€32.90');
    await cart.checkout();
    await expect(checkout.total).toHaveText('€32.90');
  });

  test('keeps the discount in the total', { tag: '@discount' }, async ({ checkout, cart, fillCart }) => {
    await fillCart({ 'breakfast-assam': 2, 'tide-mug': 1 });
    await cart.open();
    await cart.apply('WELCOME10');
    await expect(cart.total).toHaveText('€34.60');
    await checkout.open();
    await expect(checkout.total).toHaveText('€34.60');
  });

  test('marks the fields that are missing', async ({ checkout, fillCart }) => {
    await fillCart({ 'tide-mug': 1 });
    await checkout.open();
    await checkout.fillCard({ ...goodCard, number: '1234' });
    await checkout.placeOrder();
    await expect(checkout.alert).toHaveText('Please check the fields marked below');
    await expect(checkout.field('Card number')).toHaveAccessibleDescription('Enter a card number of 16 digits');
    await expect(checkout.field('Street and number')).toHaveAccessibleDescription('Enter a street and number');
  });

  test('says when the card is declined', async ({ checkout, fillCart }) => {
    await fillCart({ 'clay-teapot': 1 });
    await checkout.open();
    await checkout.fillAddress(home);
    await checkout.fillCard(declinedCard);
    await checkout.placeOrder();
    await expect(checkout.alert).toContainText('Your card was declined');
  });
});

test.describe('Checkout of a stranger', { tag: '@checkout', annotation: owner('checkout-team') }, () => {
  test.use({ storageState: nobody });

  test('asks to sign in and keeps the cart', async ({ page, fillCart, cart }) => {
    await fillCart({ 'tide-mug': 1 });
    await page.goto('/checkout');
    await new SignInPage(page).signIn(customer);
    await expect(page).toHaveURL('/checkout');
    await expect(cart.badge).toHaveText('1');
  });
});
