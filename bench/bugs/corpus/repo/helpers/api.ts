import { expect, type APIRequestContext } from '@playwright/test';
import { uuid } from './data';

const API = process.env.API_URL!;
const STOCK = 'http://127.0.0.1:4010';
const MAILBOX = 'http://127.0.0.1:8025';

export async function createOrder(request: APIRequestContext, items: string[]) {
  const response = await request.post(`${API}/api/orders`, { data: { ref: uuid(), items } });
  expect(response.status()).toBe(201);
  return response.json();
}

export async function getUser(request: APIRequestContext, id: string) {
  const response = await request.get(`${API}/api/users/${id}`);
  expect(response.status()).toBe(200);
  return response.json();
}

export async function session(request: APIRequestContext) {
  const response = await request.get(`${API}/api/session`);
  const body = await response.json();
  return body.token as string;
}

export async function reserve(request: APIRequestContext, sku: string, n = 1) {
  await request.post(`${STOCK}/reservations`, { data: { sku, n } });
}

export async function available(request: APIRequestContext, sku: string) {
  const response = await request.get(`${STOCK}/stock/${sku}`);
  return Number((await response.json()).available);
}

export async function clearMailbox(request: APIRequestContext) {
  await request.delete(`${MAILBOX}/api/v1/messages`);
}

/** Asks three times, since the gateway is slow to wake up. */
export async function quote(request: APIRequestContext, sku: string) {
  let last = '';
  for (let i = 0; i < 3; i++) {
    const response = await request.get(`${API}/api/quotes/${sku}`);
    if (response.ok())
      return (await response.json()).quote as number;
    last = `${response.status()} ${response.statusText()}`;
  }
  throw new Error(`GET /api/quotes/${sku} failed after 3 attempts: ${last}`);
}
