import type { Page } from '@playwright/test';

/** The single-page application of the back office; it runs on its own port. */
export class AppShell {
  constructor(readonly page: Page) {}

  async open(path: string) {
    await this.page.goto(`${process.env.BACKOFFICE_URL}${path}`);
  }
}
