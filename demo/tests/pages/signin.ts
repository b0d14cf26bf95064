import { type Locator, type Page } from '@playwright/test';

export class SignInPage {
  readonly account: Locator;
  readonly alert: Locator;

  constructor(private readonly page: Page) {
    this.account = page.getByTestId('account');
    this.alert = page.getByRole('alert');
  }

  async open() {
    await this.page.goto('/signin');
  }

  async signIn(who: { email: string; password: string }) {
    await this.page.getByLabel('Email').fill(who.email);
    await this.page.getByLabel('Password').fill(who.password);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
  }
}
