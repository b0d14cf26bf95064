import { expect, owner, test } from '../fixtures';

// Flaky on purpose, for showing how flaky tests are found. Both fail on the first try and pass on the second,
// each time, so that a run as a whole always ends the same. What makes the first try lose is real in kind:
// a slow network, and a message that is gone before it is looked at.
test.describe('Impatient tests', { tag: '@flaky', annotation: owner('catalogue-team') }, () => {
  // The first try has a slow network (the answer of the search is held back for 2 seconds), and the test
  // gives the results only one second.
  test('search answers within a second', { tag: '@search' }, async ({ catalogue, page }, testInfo) => {
    await page.route('**/results?*', async (route) => {
      if (testInfo.retry === 0) await new Promise((resolve) => setTimeout(resolve, 2_000));
      await route.continue().catch(() => {}); // the page may be closed by now
    });
    await catalogue.open();
    await catalogue.search.fill('assam');
    await expect(catalogue.count).toHaveText('1 product', { timeout: 1_000 });
  });

  // A message stays for 8 seconds. The first try looks for it after 10, as on a machine that is too busy.
  test('the message is still there', { tag: '@cart' }, async ({ product, cart, page }, testInfo) => {
    await page.clock.install();
    await product.open('tide-mug');
    await product.addButton.click();
    await expect(cart.badge).toHaveText('1');
    if (testInfo.retry === 0) await page.clock.runFor(10_000);
    await expect(product.message).toContainText('Tide Mug added', { timeout: 1_000 });
  });
});
