import { type Locator, type Page } from '@playwright/test';

export class CartPage {
  readonly heading: Locator;
  readonly badge: Locator;
  readonly lines: Locator;
  readonly subtotal: Locator;
  readonly discount: Locator;
  readonly shipping: Locator;
  readonly total: Locator;
  readonly emptyNote: Locator;
  readonly codeError: Locator;

  constructor(private readonly page: Page) {
    this.heading = page.getByRole('heading', { name: 'Your cart', exact: true });
    this.badge = page.getByTestId('cart-count');
    this.lines = page.getByRole('list', { name: 'Items' }).getByRole('listitem');
    this.subtotal = page.getByTestId('subtotal');
    this.discount = page.getByTestId('discount');
    this.shipping = page.getByTestId('shipping');
    this.total = page.getByTestId('total');
    this.emptyNote = page.getByRole('heading', { name: 'Your cart is empty' });
    this.codeError = page.getByRole('alert');
  }

  async open() {
    await this.page.goto('/cart');
  }

  quantityOf(name: string) {
    return this.page.getByLabel(`Quantity of ${name}`);
  }

  async more(name: string) {
    await this.page.getByRole('button', { name: `One ${name} more` }).click();
  }

  async less(name: string) {
    await this.page.getByRole('button', { name: `One ${name} less` }).click();
  }

  async remove(name: string) {
    await this.page.getByRole('button', { name: `Remove ${name}` }).click();
  }

  async empty() {
    await this.page.getByRole('button', { name: 'Empty cart' }).click();
    await this.page.getByRole('dialog').getByRole('button', { name: 'Yes, empty it' }).click();
  }

  async apply(code: string) {
    await this.page.getByLabel('Discount code').fill(code);
    await this.page.getByRole('button', { name: 'Apply' }).click();
  }

  async checkout() {
    await this.page.getByRole('link', { name: 'Go to checkout' }).click();
  }
}
