import { expect, owner, test } from '../fixtures';

test.describe('Catalogue', { tag: '@catalogue', annotation: owner('catalogue-team') }, () => {
  test('shows all products', { tag: '@smoke' }, async ({ catalogue }) => {
    await catalogue.open();
    await expect(catalogue.count).toHaveText('18 products');
    await expect(catalogue.products).toHaveCount(18);
    await expect(catalogue.card('Harbour Blend')).toContainText('€12.50');
  });

  for (const { term, finds } of [
    { term: 'jasmine', finds: ['Jasmine Pearls'] },
    { term: 'japan', finds: ['Sencha Spring', 'Clay Teapot', 'Hojicha Ember'] },
    { term: 'decaf', finds: ['Night Ferry Decaf'] },
  ]) {
    test(`search for “${term}” finds ${finds.length}`, { tag: '@search' }, async ({ catalogue }) => {
      await catalogue.open();
      await catalogue.search.fill(term);
      await expect(catalogue.products).toHaveCount(finds.length);
      expect((await catalogue.names()).sort()).toEqual([...finds].sort());
    });
  }

  test('says when a search finds nothing', { tag: '@search' }, async ({ catalogue, page }) => {
    await catalogue.open();
    await catalogue.search.fill('lemonade');
    await expect(catalogue.count).toHaveText('0 products');
    await expect(page.getByRole('heading', { name: 'No products match' })).toBeVisible();
  });

  test('filters by category and price', async ({ catalogue, page }) => {
    await catalogue.open();
    await catalogue.choose('Tea');
    await expect(catalogue.count).toHaveText('6 products');
    await catalogue.upTo('Up to €10');
    await expect(catalogue.count).toHaveText('2 products');
    expect(await catalogue.names()).toEqual(['Breakfast Assam', 'Garden Chamomile']);
    await expect(page).toHaveURL('/?category=tea&max=10');
  });

  test('sorts by price', async ({ catalogue }) => {
    await catalogue.open('?category=coffee');
    await catalogue.sortBy('Price, low to high');
    await expect(catalogue.products.first()).toContainText('Santos Morning');
    await expect(catalogue.products.last()).toContainText('Yirgacheffe Dawn');
  });

  test('puts a product into the cart', { tag: ['@smoke', '@cart'] }, async ({ catalogue, cart }) => {
    await catalogue.open();
    await catalogue.add('Tide Mug');
    await expect(cart.badge).toHaveText('1');
  });
});

test('The API lists what costs up to €15', { tag: '@api', annotation: owner('catalogue-team') }, async ({ request }) => {
  const answer = await request.get('/api/products', { params: { category: 'coffee', max: '15', sort: 'price' } });
  expect(answer.ok()).toBe(true);
  const { products } = await answer.json();
  expect(products.map((p: { price: string }) => p.price)).toEqual(['€11.90', '€12.50', '€13.50', '€15.00']);
});
