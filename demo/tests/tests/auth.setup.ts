import { expect, test as setup } from '@playwright/test';
import { SignInPage } from '../pages/signin';
import { administrator, customer } from '../people';

// Signs in once for all tests and saves the sign-in alone. The visit, which holds the cart and the orders,
// stays behind: so each test starts signed in and with a shop of its own.
for (const who of [customer, administrator]) {
  setup(`sign in as ${who.name}`, async ({ page, context }) => {
    const signIn = new SignInPage(page);
    await signIn.open();
    await signIn.signIn(who);
    await expect(signIn.account).toHaveText(who.name);
    await context.clearCookies({ name: 'visit' });
    await context.storageState({ path: who.state });
  });
}
