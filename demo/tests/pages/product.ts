import { type Locator, type Page } from '@playwright/test';

export class ProductPage {
  readonly title: Locator;
  readonly price: Locator;
  readonly stock: Locator;
  readonly quantity: Locator;
  readonly addButton: Locator;
  readonly message: Locator;

  constructor(private readonly page: Page) {
    this.title = page.getByRole('heading', { level: 1 });
    this.price = page.getByTestId('price');
    this.stock = page.getByTestId('stock');
    this.quantity = page.getByLabel('Quantity');
    this.addButton = page.getByRole('article').getByRole('button', { name: 'Add to cart' });
    this.message = page.getByRole('status', { name: 'Messages' });
  }

  async open(slug: string) {
    await this.page.goto(`/products/${slug}`);
  }

  async add(quantity = 1) {
    await this.quantity.fill(String(quantity));
    await this.addButton.click();
  }
}
