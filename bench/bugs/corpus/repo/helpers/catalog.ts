import type { APIRequestContext } from '@playwright/test';

type Item = { sku: string, price: number };

export class Catalog {
  private items: Item[] = [];

  async load(request: APIRequestContext) {
    const response = await request.get(`${process.env.API_URL}/api/catalog`);
    this.items = (await response.json()).items;
  }

  priceOf(sku: string) {
    const item = this.items.find(i => i.sku === sku)!;
    return item.price;
  }
}
