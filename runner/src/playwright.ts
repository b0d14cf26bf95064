// Finds the Playwright of the tests repository. Always from the working directory, never from where the runner lies:
// the tests import that very copy, and a process must not hold two.
import * as fs from 'fs';
import { createRequire } from 'module';
import * as path from 'path';

export interface Playwright {
  version: string;
  minor: number;
  /** What `npx playwright` would start. */
  cli: string;
  testDir: string;
  coreDir: string;
}

export class PlaywrightProblem extends Error {
  constructor(readonly code: 'no-playwright' | 'playwright-too-old', message: string) {
    super(message);
  }
}

export function findPlaywright(cwd: string): Playwright {
  const manifest = resolve('@playwright/test/package.json', cwd);
  if (!manifest)
    throw new PlaywrightProblem('no-playwright', '@playwright/test is not installed in the tests repository: add it to package.json (1.50 or later) and install');
  const version = readVersion(manifest) ?? '0.0.0';
  const [major, minor] = version.split('.').map(Number);
  if (major < 1 || (major === 1 && minor < 50))
    throw new PlaywrightProblem('playwright-too-old', `the tests repository has Playwright ${version}, TAS needs 1.50 or later: npm install -D @playwright/test@latest`);
  const test = resolve('playwright/package.json', path.dirname(manifest));
  const core = test && resolve('playwright-core/package.json', path.dirname(test));
  if (!test || !core)
    throw new PlaywrightProblem('no-playwright', `@playwright/test ${version} is installed without its dependencies: install the tests repository's packages again`);
  return {
    version,
    minor: major > 1 ? 1000 : minor,
    cli: path.join(path.dirname(manifest), 'cli.js'),
    testDir: path.dirname(test),
    coreDir: path.dirname(core),
  };
}

/** The version of tas-runner that the repository itself has installed. */
export function repositoryRunner(cwd: string): string | null {
  const manifest = resolve('tas-runner/package.json', cwd);
  return manifest ? readVersion(manifest) : null;
}

export function ownVersion(): string {
  return readVersion(path.join(__dirname, '..', 'package.json')) ?? '';
}

function resolve(name: string, from: string): string | undefined {
  try {
    // Not require.resolve with paths: that finds this very package when it is asked for its own name.
    // And the real path: where packages are links (pnpm, workspaces) Node knows a module by it, and a second name
    // would load a second Playwright. Even where Node resolves links itself: once a socket's status was asked for, its
    // cached look-ups were seen to stop early (Node 20).
    return fs.realpathSync(createRequire(path.join(from, 'here.js')).resolve(name));
  } catch {
    return undefined;
  }
}

function readVersion(manifest: string): string | null {
  try {
    return JSON.parse(fs.readFileSync(manifest, 'utf8')).version ?? null;
  } catch {
    return null;
  }
}
