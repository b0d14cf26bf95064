import { test, expect } from '@playwright/test';
import { clearMailbox, createOrder } from '../../helpers/api';
import { waitForMail, waitForSms } from '../../helpers/mail';
import { email, orderNo } from '../../helpers/data';

//#bug mail-not-sent 8 56
test('order is confirmed by mail', async ({ request }) => {
  await waitForMail(request, { to: email(), subject: `Order ${orderNo()}` });
});

//#bug mail-not-sent
test('invoice comes by mail', async ({ request }) => {
  const mail = await waitForMail(request, { to: email('invoice'), subject: `Your invoice ${orderNo()}`, timeout: 1000 });
  expect(mail.attachments).toHaveLength(1);
});

//#bug mail-not-sent
test('password is reset by mail', async ({ request }) => {
  await waitForMail(request, { to: 'reset@example.test', subject: 'Reset your password' });
});

//#bug mail-not-sent
test('new user is invited by mail', async ({ request }) => {
  await waitForMail(request, { to: email('invited'), subject: 'You were invited', timeout: 2000 });
});

//#bug sms-not-sent 3
test('code comes by SMS', async () => {
  await waitForSms('+49 151 234567' + Math.floor(Math.random() * 90 + 10));
});

//#bug mailbox-refused
test('mailbox can be emptied', async ({ request }) => {
  await clearMailbox(request);
});

//#bug api-orders-500
test('mail of an order', async ({ request }) => {
  await createOrder(request, ['MAIL-1']);
});
