package main

import (
	"fmt"
	"strings"
)

// longSuite is a suite of about five minutes with two workers: 120 tests that each visit
// the shop and then wait, as real tests wait for their application.
func longSuite() map[string]string {
	files := map[string]string{}
	for f := range 12 {
		var b strings.Builder
		b.WriteString("import { test, expect } from '@playwright/test';\n")
		for i := range 10 {
			fmt.Fprintf(&b, `test('visit %d of %d', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByTestId('result-count')).toBeVisible();
  await page.waitForTimeout(%d);
});
`, i, f, 3000+((f*10+i)%7)*400)
		}
		files[fmt.Sprintf("tests/long%02d.spec.ts", f)] = b.String()
	}
	files["playwright.config.ts"] = `import { defineConfig, devices } from '@playwright/test';
export default defineConfig({ testDir: './tests', fullyParallel: true, retries: 1, reporter: 'list',
  use: { baseURL: process.env.SHOP_URL, trace: 'retain-on-failure' },
  projects: [{ name: 'chromium', use: { ...devices['Desktop Chrome'] } }] });
`
	return files
}
