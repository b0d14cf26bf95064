import type { APIRequestContext } from '@playwright/test';
import { email, uuid } from './data';

export async function accountId(request: APIRequestContext, name: string) {
  const response = await request.get(`${process.env.API_URL}/api/accounts?name=${name}`);
  const { data } = await response.json();
  return data[0].id as string;
}

/** Puts a user into the database of the test environment. */
export async function seedUser(name: string) {
  const address = email(name);
  const rows = await insert('users', { id: uuid(), address });
  return { address, rows };
}

async function insert(table: string, row: { id: string, address: string }) {
  throw new Error(`seed failed: duplicate key value violates unique constraint "${table}_email_key"\nDetail: Key (email)=(${row.address}) already exists.`);
}

export async function dropTenant(id: string) {
  throw new Error(`cleanup failed: tenant ${id} still has 1 open subscription`);
}
