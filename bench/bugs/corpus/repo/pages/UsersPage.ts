import { expect, type Page } from '@playwright/test';

export class UsersPage {
  constructor(readonly page: Page) {}

  async open(find = '') {
    await this.page.goto('/admin/users' + (find ? `?find=${encodeURIComponent(find)}` : ''));
  }

  async edit(address: string) {
    const row = this.page.getByRole('row').filter({ hasText: address });
    await row.getByRole('button', { name: 'Edit' }).click();
  }

  async expectListed(address: string) {
    await expect(this.page.getByRole('cell', { name: address })).toBeVisible();
  }

  async expectConfirmation() {
    await expect(this.page.getByRole('dialog', { name: 'Confirm' })).toBeVisible();
  }
}
