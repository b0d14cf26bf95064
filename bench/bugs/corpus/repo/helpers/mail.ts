import type { APIRequestContext } from '@playwright/test';
import { sleep } from './data';

type Wanted = { to: string, subject: string, timeout?: number };

export async function waitForMail(request: APIRequestContext, { to, subject, timeout = 1500 }: Wanted) {
  const end = Date.now() + timeout;
  while (Date.now() < end) {
    const response = await request.get(`${process.env.API_URL}/api/mail?to=${encodeURIComponent(to)}`);
    const found = (await response.json()).messages.find((m: any) => m.subject === subject);
    if (found)
      return found;
    await sleep(200);
  }
  throw new Error(`No mail to ${to} with subject "${subject}" within ${timeout} ms`);
}

export async function waitForSms(number: string, timeout = 1000) {
  await sleep(timeout);
  throw new Error(`No SMS to ${number} within ${timeout} ms`);
}
