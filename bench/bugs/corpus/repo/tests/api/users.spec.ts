import { test, expect } from '@playwright/test';
import { getUser } from '../../helpers/api';
import { accountId, seedUser } from '../../helpers/users';
import { uuid } from '../../helpers/data';

//#bug api-users-403 4
test('user can be read', async ({ request }) => {
  const user = await getUser(request, uuid());
  expect(user.email).toContain('@');
});

//#bug api-users-403
test('own user can be read', async ({ request }) => {
  await getUser(request, 'me');
});

//#bug account-id-undefined 4
test('account of Ann', async ({ request }) => {
  expect(await accountId(request, 'ann')).toMatch(/^[0-9a-f-]+$/);
});

//#bug account-id-undefined
test('account of Bob', async ({ request }) => {
  const id = await accountId(request, 'bob');
  await request.get(`/api/accounts/${id}`);
});

//#bug seed-duplicate-email
test('seeded user can be read', async ({ request }) => {
  const { address } = await seedUser('reader');
  await getUser(request, address);
});

//#bug seed-duplicate-email
test('seeded user can be deleted', async () => {
  await seedUser('deleted');
});
