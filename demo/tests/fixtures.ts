import { test as base } from '@playwright/test';
import { CartPage } from './pages/cart';
import { CataloguePage } from './pages/catalogue';
import { CheckoutPage } from './pages/checkout';
import { OrdersPage } from './pages/orders';
import { ProductPage } from './pages/product';

type Fixtures = {
  catalogue: CataloguePage;
  product: ProductPage;
  cart: CartPage;
  checkout: CheckoutPage;
  orders: OrdersPage;
  /** Fills the cart through the API: quick, for tests that are about what comes after. */
  fillCart: (items: Record<string, number>) => Promise<void>;
};

export const test = base.extend<Fixtures>({
  catalogue: async ({ page }, use) => use(new CataloguePage(page)),
  product: async ({ page }, use) => use(new ProductPage(page)),
  cart: async ({ page }, use) => use(new CartPage(page)),
  checkout: async ({ page }, use) => use(new CheckoutPage(page)),
  orders: async ({ page }, use) => use(new OrdersPage(page)),
  fillCart: async ({ page }, use) =>
    use(async (items) => {
      for (const [product, quantity] of Object.entries(items)) {
        const answer = await page.request.post('/api/cart/items', { data: { product, quantity } });
        base.expect(answer.ok(), `putting ${quantity} ${product} into the cart`).toBe(true);
      }
    }),
});

export { expect } from '@playwright/test';

/** Says which team a test belongs to. */
export const owner = (team: string) => ({ type: 'owner', description: team });
