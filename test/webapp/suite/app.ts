import { expect, test as base, type Browser, type Page } from '@playwright/test';

/** What was put into the service before the suite began. */
export const app = {
  welcome: need('WELCOME_URL'), // makes the first administrator
  shop: need('SHOP_RUNS'), // path of the runs of a project that has some: /projects/…/runs
  empty: need('EMPTY_RUNS'), // of one that has none
  passed: need('PASSED_RUN'), // paths of runs
  failed: need('FAILED_RUN'),
  sharded: need('SHARDED_RUN'),
  broken: need('BROKEN_RUN'), // its repository could not be checked out
  approve: need('APPROVE_SESSION'), // paths of sessions of healing: with a repair that waits for somebody's word,
  proposed: need('PROPOSED_SESSION'), // with one that was rejected,
  waiting: need('WAITING_SESSION'), // and under way for as long as the suite runs
  apiKey: need('SHOP_KEY'),
  api: need('API_URL'),
};

export const administrator = { name: 'Ada Admin', email: 'ada@example.com', password: 'three quiet green doors' };

function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the suite is run by the Go test beside it`);
  return value;
}

/** A test that fails on what a browser's console says is wrong, above all what the Content-Security-Policy refuses. */
export const test = base.extend<{ quiet: void }>({
  quiet: [async ({ page }, use) => {
    const said: string[] = [];
    page.on('console', m => { if (m.type() === 'error') said.push(m.text()); });
    page.on('pageerror', e => said.push(String(e)));
    await use();
    expect(said.filter(s => !s.startsWith('Failed to load resource: the server responded with a status of 4')), 'on the console').toEqual([]);
  }, { auto: true }],
});

export async function signIn(page: Page, email = administrator.email, password = administrator.password) {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Has the administrator invite somebody to the shop, and that somebody join in a browser of their own. */
export async function join(browser: Browser, name: string, password: string, role: string): Promise<Page> {
  const email = `${name.split(' ')[0].toLowerCase()}@example.com`;
  const inviting = await browser.newContext({ storageState: '.auth/administrator.json' });
  const page = await inviting.newPage();
  await page.goto(app.shop.replace(/runs$/, 'members'));
  const form = page.locator('form', { has: page.getByRole('button', { name: 'Make an invitation' }) });
  await form.getByRole('combobox').selectOption(role);
  await form.getByRole('textbox').fill(email);
  await form.getByRole('button').click();
  const link = (await page.getByRole('alert').locator('code').textContent())!.trim();
  await inviting.close();

  const theirs = await (await browser.newContext({ storageState: { cookies: [], origins: [] } })).newPage();
  await theirs.goto(link);
  await theirs.getByLabel('Your name').fill(name);
  await theirs.getByLabel('Password').fill(password);
  await theirs.getByRole('button', { name: 'Create the account' }).click();
  await expect(theirs.getByText(`You: ${name}`)).toBeAttached();
  return theirs;
}

export { expect };
