import { type Locator, type Page } from '@playwright/test';

export class OrdersPage {
  readonly heading: Locator;
  readonly orders: Locator;
  readonly status: Locator;
  readonly total: Locator;

  constructor(private readonly page: Page) {
    this.heading = page.getByRole('heading', { name: 'Your orders' });
    this.orders = page.getByRole('list', { name: 'Orders' }).getByRole('listitem');
    this.status = page.getByTestId('status');
    this.total = page.getByTestId('total');
  }

  async open() {
    await this.page.goto('/orders');
  }

  order(number: string) {
    return this.orders.filter({ has: this.page.getByRole('heading', { name: number }) });
  }

  async see(number: string) {
    await this.page.getByRole('link', { name: number }).click();
  }
}
