// Installs the Playwright versions of the matrix, once: their lockfiles are checked in, their modules are not.
const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');

for (const version of fs.readdirSync(__dirname)) {
  const dir = path.join(__dirname, version);
  if (!fs.existsSync(path.join(dir, 'package.json')) || fs.existsSync(path.join(dir, 'node_modules', '@playwright', 'test')))
    continue;
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: dir, stdio: 'inherit', env: { ...process.env, PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1' } });
}
