import { AxeBuilder } from '@axe-core/playwright';
import { app, expect, test } from '../app';

const shop = app.shop.replace(/\/runs$/, '');
const empty = app.empty.replace(/\/runs$/, '');

const pages: Record<string, string> = {
  'projects': '/',
  'a new project': '/new-project',
  'runs': `${shop}/runs`,
  'runs that no filter lets through': `${shop}/runs?q=nothing-is-called-so`,
  'no runs yet': `${empty}/runs`,
  'start a run': `${shop}/runs/new`,
  'start a run without a repository': `${empty}/runs/new`,
  'a run that passed': app.passed,
  'a run that failed': app.failed,
  'a run in shards': app.sharded,
  'a run that broke down': app.broken,
  'tests': `${shop}/tests`,
  'no tests yet': `${empty}/tests`,
  'no collections yet': `${empty}/collections`,
  'a new collection': `${shop}/collections/new`,
  'health': `${shop}/health`,
  'nothing to see in health': `${empty}/health`,
  'a bug': `${shop}/bugs/BUG-1`,
  'healing': `${shop}/sessions`,
  'nothing was healed yet': `${empty}/sessions`,
  'sessions that no filter lets through': `${shop}/sessions?state=failed`,
  'a session with a repair': app.approve,
  'a session with a rejected proposal': app.proposed,
  'a session under way': app.waiting,
  'figures of healing': `${shop}/healing`,
  'no figures of healing yet': `${empty}/healing`,
  'pull requests': `${shop}/pulls`,
  'no pull request is closed': `${shop}/pulls?state=closed`,
  'a pull request': `${shop}/pulls/1`,
  'settings of pull requests': `${shop}/settings/pulls`,
  'settings of pull requests without a repository': `${empty}/settings/pulls`,
  'activity': `${shop}/activity`,
  'nothing was done to the outside yet': `${empty}/activity`,
  'settings': `${shop}/settings`,
  'nobody is told yet': `${empty}/settings/notifications`,
  'a new destination': `${empty}/settings/notifications/new`,
  'members': `${shop}/members`,
  'audit log': `${shop}/settings/audit`,
  'profile': '/profile',
  'administration': '/administration',
  'API reference': '/reference',
  'not found': `${shop}/runs/00000000-0000-4000-8000-000000000000`,
};

async function look(page: import('@playwright/test').Page, name: string, status: number) {
  // Colours do not depend on the width, so that each width has one scheme; EVERY_SCHEME=1 takes all four.
  const schemes = process.env.EVERY_SCHEME ? ['light', 'dark'] as const : test.info().project.name === 'phone' ? ['dark'] as const : ['light'] as const;
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    await test.info().attach(`${name}, ${colorScheme}.png`, { body: await page.screenshot({ fullPage: true, animations: 'disabled' }), contentType: 'image/png' });
    const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']).analyze();
    expect(violations.filter(v => v.impact === 'serious' || v.impact === 'critical')
      .map(v => `${v.id}: ${v.nodes.slice(0, 5).map(n => n.target.join(' ') + ' ' + n.failureSummary).join('; ')}`), `in ${colorScheme}`).toEqual([]);
  }
  const sides = await page.evaluate(() => ({ needs: document.documentElement.scrollWidth, has: document.documentElement.clientWidth }));
  expect(sides.needs, 'the page scrolls sideways').toBeLessThanOrEqual(sides.has);
  await expect(page.locator('h1'), 'a page has one heading of the first level').toHaveCount(1);
  expect(await page.title()).toMatch(/ · TAS$/);
  expect(status).toBe(name === 'not found' ? 404 : 200);
}

for (const [name, path] of Object.entries(pages))
  test(name, async ({ page }) => {
    const answer = await page.goto(path);
    await look(page, name, answer!.status());
  });

test('a failed test in a run', async ({ page }) => {
  await page.goto(app.failed);
  await page.locator('#failures a.main').first().click();
  await expect(page.getByRole('heading', { name: 'Why it failed' })).toBeVisible();
  await page.waitForFunction(() => !document.querySelector('[data-load]:not([data-loaded]), [data-load][aria-busy]'));
  await look(page, 'a failed test in a run', 200);
});

test('a test', async ({ page }) => {
  await page.goto(`${shop}/tests`);
  await page.locator('main a.main').first().click();
  await expect(page.getByRole('heading', { name: 'History' })).toBeVisible();
  await look(page, 'a test', 200);
});

test('a destination and its messages', async ({ page }) => {
  await page.goto(`${empty}/settings/notifications/new`);
  await page.getByLabel('Name').fill(`room ${test.info().project.name} ${Date.now()}`);
  await page.locator('input[name=url]').fill('https://no-such-host.invalid/hook');
  await page.getByRole('button', { name: 'Save' }).click();
  await look(page, 'the key of a destination', 200);
  await page.goto(`${empty}/settings/notifications`);
  await page.locator('main a.main', { hasText: `room ${test.info().project.name} ` }).first().click();
  await page.getByRole('button', { name: 'Send test' }).click();
  await expect(page.locator('#deliveries')).toContainText('a test message');
  await look(page, 'a destination', 200);
  await page.locator('#deliveries a.main').first().click();
  await expect(page.getByRole('heading', { name: 'What happened' })).toBeVisible();
  await look(page, 'an action', 200);
  await page.goto(`${empty}/settings/notifications`);
  await page.locator('main a.main', { hasText: `room ${test.info().project.name} ` }).first().click();
  await page.getByRole('button', { name: 'Remove it and its secrets' }).click();
});

test('sign in', async ({ page, context }) => {
  await context.clearCookies();
  const answer = await page.goto('/');
  await expect(page).toHaveURL(/\/sign-in/);
  await look(page, 'sign in', answer!.status());
});
