import { test, expect } from '@playwright/test';
import { uuid } from '../../helpers/data';

//#bug upload-socket-closed 4
test('picture is uploaded', async ({ request }) => {
  await request.post(`${process.env.API_URL}/api/upload`, { data: { id: uuid(), picture: 'x' } });
});

//#bug upload-socket-closed
test('manual is uploaded', async ({ request }) => {
  await request.post(`${process.env.API_URL}/api/upload`, { data: { id: uuid(), manual: 'y' } });
});

//#bug report-api-slow 2
test('report is downloaded', async ({ request }) => {
  await request.get(`${process.env.API_URL}/api/reports/slow?id=${uuid()}`, { timeout: 2500 });
});

//#bug report-api-slow
test('summary is downloaded', async ({ request }) => {
  await request.get(`${process.env.API_URL}/api/reports/slow?id=summary`, { timeout: 2500 });
});
