import { test, expect } from '@playwright/test';
import { dropTenant, seedUser } from '../../helpers/users';
import { uuid } from '../../helpers/data';

test.describe('seeded', () => {
  test.beforeEach(async () => {
    await seedUser('tenant-admin');
  });

  //#bug seed-duplicate-email 9 mix
  test('tenant can be renamed', async ({ page }) => {
    await page.goto('/admin/users');
  });

  //#bug seed-duplicate-email
  test('tenant can be closed', async ({ page }) => {
    await page.goto('/admin/users');
  });
});

test.describe('dropped', () => {
  const id = uuid();
  test.afterEach(async () => {
    await dropTenant(id);
  });

  //#bug tenant-cleanup 4
  test('tenant has a logo', async ({ page }) => {
    await page.goto('/admin/roles');
  });

  //#bug tenant-cleanup
  test('tenant has colours', async ({ page }) => {
    await page.goto('/admin/roles');
  });
});

test.describe('health', () => {
  test.beforeAll(async ({ request }) => {
    test.setTimeout(3000);
    while (!(await (await request.get(`${process.env.API_URL}/api/health`)).json()).ready)
      await new Promise(f => setTimeout(f, 300));
  });

  //#bug health-hook-timeout 1
  test('tenant is ready', async ({ page }) => {
    await page.goto('/admin/roles');
  });
});
