import { defineConfig } from '@playwright/test';

const env = process.env;
export default defineConfig({
  testDir: './tests',
  workers: 2,
  retries: 0,
  timeout: Number(env.T_TEST),
  expect: { timeout: Number(env.T_EXPECT) },
  snapshotPathTemplate: '{testDir}/__screenshots__/{testFileName}/{arg}{ext}',
  reporter: [[env.CORPUS_REPORTER!]],
  use: {
    baseURL: env.BASE_URL,
    actionTimeout: Number(env.T_ACTION || 0),
    navigationTimeout: Number(env.T_NAV || 0),
    launchOptions: {
      executablePath: env.CORPUS_NO_BROWSER ? undefined : '/usr/lib/chromium/chromium-headless-shell',
      args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP *.nordlicht.test 127.0.0.1, MAP *.gateway.test ~NOTFOUND, MAP *.partner.test ~NOTFOUND'],
    },
  },
});
