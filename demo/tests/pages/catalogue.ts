import { type Locator, type Page, expect } from '@playwright/test';

export class CataloguePage {
  readonly search: Locator;
  readonly count: Locator;
  readonly products: Locator;

  constructor(private readonly page: Page) {
    this.search = page.getByLabel('Search products');
    this.count = page.getByTestId('result-count');
    this.products = page.getByRole('list', { name: 'Products' }).getByRole('listitem');
  }

  /** Opens the catalogue without waiting for all of it: the products are what counts. */
  async open(query = '') {
    await this.page.goto(`/${query}`, { waitUntil: 'commit' });
    await expect(this.count).toBeVisible();
  }

  card(name: string) {
    return this.products.filter({ has: this.page.getByRole('heading', { name }) });
  }

  async add(name: string) {
    await this.card(name).getByRole('button', { name: 'Add to cart' }).click();
  }

  async choose(category: string) {
    await this.page.getByRole('radio', { name: category }).check();
  }

  async upTo(price: string) {
    await this.page.getByLabel('Price').selectOption(price);
  }

  async sortBy(order: string) {
    await this.page.getByLabel('Sort by').selectOption(order);
  }

  async names() {
    return this.products.getByRole('heading').allTextContents();
  }
}
