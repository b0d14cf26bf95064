import { type Locator, type Page } from '@playwright/test';

export class AdminPage {
  readonly message: Locator;

  constructor(private readonly page: Page) {
    this.message = page.getByRole('status', { name: 'Messages' });
  }

  async openProducts() {
    await this.page.goto('/admin');
  }

  async openOrders() {
    await this.page.goto('/admin/orders');
  }

  row(name: string) {
    return this.page.getByRole('row').filter({ has: this.page.getByRole('rowheader', { name }) });
  }

  async save(name: string, change: { price?: string; stock?: string }) {
    if (change.price !== undefined) await this.page.getByLabel(`Price of ${name}`).fill(change.price);
    if (change.stock !== undefined) await this.page.getByLabel(`Stock of ${name}`).fill(change.stock);
    await this.row(name).getByRole('button', { name: 'Save' }).click();
  }

  async setStatus(number: string, status: string) {
    await this.page.getByLabel(`Status of ${number}`).selectOption(status);
    await this.row(number).getByRole('button', { name: 'Update' }).click();
  }
}
