import { type Locator, type Page } from '@playwright/test';

type Address = { name: string; street: string; postcode: string; city: string; country: string };
type Card = { number: string; expiry: string; code: string };

export class CheckoutPage {
  readonly alert: Locator;
  readonly total: Locator;
  readonly thanks: Locator;
  readonly orderNumber: Locator;

  constructor(private readonly page: Page) {
    this.alert = page.getByRole('alert');
    this.total = page.getByTestId('total');
    this.thanks = page.getByRole('heading', { name: 'Thank you for your order' });
    this.orderNumber = page.getByTestId('order-number');
  }

  async open() {
    await this.page.goto('/checkout');
  }

  async fillAddress(address: Address) {
    await this.page.getByLabel('Full name').fill(address.name);
    await this.page.getByLabel('Street and number').fill(address.street);
    await this.page.getByLabel('Postcode').fill(address.postcode);
    await this.page.getByLabel('City').fill(address.city);
    await this.page.getByLabel('Country').selectOption(address.country);
  }

  async fillCard(card: Card) {
    await this.page.getByLabel('Card number').fill(card.number);
    await this.page.getByLabel('Expiry date').fill(card.expiry);
    await this.page.getByLabel('Security code').fill(card.code);
  }

  async placeOrder() {
    await this.page.getByRole('button', { name: 'Place order' }).click();
  }

  field(label: string) {
    return this.page.getByLabel(label);
  }
}
