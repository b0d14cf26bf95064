#!/usr/bin/env node
// For people who find the command in node_modules/.bin and wonder.
import { ownVersion } from './playwright';

const help = `tas-runner ${ownVersion()}: runs this Playwright tests repository for TAS, the Test Automation Service.

You do not start it yourself. TAS starts it beside @playwright/test when it runs this repository: it tells TAS which
tests there are, runs the ones that were asked for, and reports every step while they run. To run the tests here, use
"npx playwright test".

  tas-runner --version   the version
  tas-runner --help      this text
`;

if (process.argv[2] === '--version' || process.argv[2] === '-v') {
  process.stdout.write(ownVersion() + '\n');
} else {
  const asked = process.argv[2] === '--help' || process.argv[2] === '-h';
  (asked ? process.stdout : process.stderr).write(help);
  process.exitCode = asked ? 0 : 2;
}
