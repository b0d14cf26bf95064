import { expect, type Locator, type Page } from '@playwright/test';
import { parsePrice } from '../helpers/money';

export class CartPage {
  readonly badge: Locator;
  readonly checkoutButton: Locator;

  constructor(readonly page: Page) {
    this.badge = page.getByTestId('cart-badge');
    this.checkoutButton = page.getByRole('button', { name: 'Checkout' });
  }

  async open(query = '') {
    await this.page.goto(`/cart${query}`);
  }

  async checkout() {
    await expect(this.page).toHaveTitle('Your cart');
    await this.checkoutButton.click();
  }

  async expectBadge(count: number) {
    await expect(this.badge).toHaveText(String(count));
  }

  async total() {
    const text = await this.page.locator('.cart-summary .total').textContent();
    return parsePrice(text!);
  }

  async removeFirst() {
    await this.page.getByRole('button', { name: 'Remove' }).first().click();
  }
}
