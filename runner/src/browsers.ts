// Puts browsers where the repository's own Playwright looks for them. No environment variable names an executable for
// `playwright test`, so a folder of links becomes its browsers folder; the registry of that very Playwright says
// where in it each executable has to lie, which changes from version to version.
import * as fs from 'fs';
import * as path from 'path';
import type { Playwright } from './playwright';
import type { Start } from './protocol';

interface Executable {
  directory?: string;
  executablePath(): string | undefined;
}

export class Browsers {
  private registry: { findExecutable(name: string): Executable | undefined } | undefined;

  constructor(private start: Start) {}

  /** Environment for Playwright; to be set before any of it is loaded. */
  environment(): Record<string, string> {
    return {
      PLAYWRIGHT_BROWSERS_PATH: this.start.browsersDir,
      PLAYWRIGHT_SKIP_BROWSER_GC: '1',
      PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1',
    };
  }

  /** Fills the folder. The registry is part of what a run loads anyway, so asking it costs nothing. */
  link(playwright: Playwright): void {
    this.registry = loadRegistry(playwright);
    const system = this.start.systemBrowsers ?? {};
    fs.mkdirSync(this.start.browsersDir, { recursive: true });
    this.linkOne('chromium', system.chromium);
    this.linkOne('chromium-headless-shell', system.headlessShell);
    this.linkOne('ffmpeg', system.ffmpeg);
    this.linkOne('firefox');
    this.linkOne('webkit');
  }

  /** Can a project with these `use` options start its browser? A channel is a browser of its own. */
  available(browserName: string, channel: string | undefined, executablePath: string | undefined): boolean {
    if (executablePath)
      return fs.existsSync(executablePath);
    const names = channel ? [channel] : browserName === 'chromium' ? ['chromium-headless-shell', 'chromium'] : [browserName];
    return names.some(name => {
      const file = this.executable(name)?.executablePath();
      return !!file && fs.existsSync(file);
    });
  }

  /** The browsers that this installation has, in words. */
  has(): string {
    const names = ['chromium', 'firefox', 'webkit'].filter(name => this.available(name, undefined, undefined));
    return names.length ? 'this installation has ' + names.join(', ') : 'this installation has no browser';
  }

  private linkOne(name: string, systemExecutable?: string): void {
    const executable = this.executable(name);
    const file = executable?.executablePath();
    const inside = file && path.relative(this.start.browsersDir, file);
    if (!file || !inside || inside.startsWith('..'))
      return;
    // The whole folder of a managed browser: Firefox and WebKit start through scripts that look beside themselves.
    const folder = inside.split(path.sep)[0];
    const managed = this.start.managedBrowsers && path.join(this.start.managedBrowsers, folder);
    if (managed && fs.existsSync(path.join(this.start.managedBrowsers!, inside))) {
      replaceLink(managed, path.join(this.start.browsersDir, folder));
      return;
    }
    if (!systemExecutable || !fs.existsSync(systemExecutable))
      return;
    const own = path.join(this.start.browsersDir, folder);
    if (fs.lstatSync(own, { throwIfNoEntry: false })?.isSymbolicLink())
      fs.unlinkSync(own);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    replaceLink(systemExecutable, file);
    // Without the marker `playwright install` takes the folder for a broken download and deletes it.
    fs.writeFileSync(path.join(own, 'INSTALLATION_COMPLETE'), '');
  }

  private executable(name: string): Executable | undefined {
    try {
      return this.registry?.findExecutable(name);
    } catch {
      return undefined;
    }
  }
}

function loadRegistry(playwright: Playwright) {
  const older = path.join(playwright.coreDir, 'lib', 'server', 'registry', 'index.js');
  const module = require(fs.existsSync(older) ? older : path.join(playwright.coreDir, 'lib', 'coreBundle.js'));
  const registry = module.registry?.registry ?? module.registry;
  if (typeof registry?.findExecutable !== 'function')
    throw new Error(`Playwright ${playwright.version} keeps its browsers in a way that this runner does not know`);
  return registry;
}

function replaceLink(target: string, link: string): void {
  fs.rmSync(link, { recursive: true, force: true });
  fs.symlinkSync(target, link);
}

const notInstalled = /Executable doesn't exist at (\S+)/;

/** A browser that is missing is told in words that help; other errors come back as they are (undefined). */
export function explainMissingBrowser(message: string, browsers: Browsers): string | undefined {
  const match = notInstalled.exec(message);
  if (!match)
    return undefined;
  const name = /(chromium|firefox|webkit|ffmpeg)[\w-]*?-\d+/.exec(match[1])?.[1] ?? path.basename(match[1]);
  return `browser not available: ${name}, ${browsers.has()}`;
}
