import { expect, type Page } from '@playwright/test';

export class LoginPage {
  constructor(readonly page: Page) {}

  async goto(query = '') {
    await this.page.goto('/login' + query);
    await expect(this.page.getByRole('heading')).toHaveText('Sign in');
  }

  async login(user: string, password = 'correct horse') {
    await this.page.getByLabel('Email').fill(user);
    await this.page.getByLabel('Password').fill(password);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
    await expect(this.page).toHaveURL(/\/dashboard/);
  }
}
