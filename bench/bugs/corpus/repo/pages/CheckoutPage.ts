import { expect, type Page } from '@playwright/test';

export class CheckoutPage {
  constructor(readonly page: Page) {}

  async payWithCard(number = '4242 4242 4242 4242') {
    const frame = this.page.frameLocator('#payment');
    await frame.getByPlaceholder('Card number').fill(number);
    await frame.getByRole('button', { name: 'Pay' }).click();
  }

  async approve3ds() {
    const acs = this.page.frameLocator('iframe[name="acs"]');
    await acs.getByRole('button', { name: 'Approve' }).click();
  }

  async placeOrder() {
    await this.page.getByRole('button', { name: 'Place order' }).click();
    await this.page.waitForURL(/\/order\/\d+\/confirmation/);
  }
}
