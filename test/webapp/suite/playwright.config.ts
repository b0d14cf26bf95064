import { defineConfig, devices } from '@playwright/test';

const signedIn = { storageState: '.auth/administrator.json' };
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1, hasTouch: true };
const desktop = { viewport: { width: 1440, height: 900 }, deviceScaleFactor: 1 };

export default defineConfig({
  testDir: './tests',
  fullyParallel: true,
  forbidOnly: !!process.env.CI,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: 'list',
  use: {
    baseURL: process.env.APP_URL,
    actionTimeout: 10_000,
    navigationTimeout: 20_000,
    locale: 'en-GB',
    trace: 'retain-on-failure',
    screenshot: 'only-on-failure',
  },
  projects: [
    { name: 'setup', testMatch: /.*\.setup\.ts/ },
    // Every page, at both widths.
    { name: 'phone', testMatch: /pages\.spec\.ts/, use: { ...devices['Desktop Chrome'], ...phone, ...signedIn }, dependencies: ['setup'] },
    { name: 'desktop', testMatch: /pages\.spec\.ts/, use: { ...devices['Desktop Chrome'], ...desktop, ...signedIn }, dependencies: ['setup'] },
    // What people do.
    { name: 'acts', testIgnore: [/pages\.spec\.ts/, /.*\.setup\.ts/], use: { ...devices['Desktop Chrome'], ...desktop, ...signedIn }, dependencies: ['setup'] },
  ],
});
