// Plays the attempt: starts the built runner as a worker does, with a socket as file descriptor 3, and keeps what it
// says. A repository is a folder of files made for one test, with one of the Playwright versions of the matrix in it.
const { spawn } = require('child_process');
const fs = require('fs');
const http = require('http');
const os = require('os');
const path = require('path');
const { after } = require('node:test');

const main = path.join(__dirname, '..', 'dist', 'main.js');
const newest = '1.65';
// PLAYWRIGHT_VERSIONS=1.61,1.62 tries others: put a package.json below versions/ for each.
const versions = process.env.PLAYWRIGHT_VERSIONS?.split(',') ?? ['1.50', '1.56', newest];

const folders = [];
// A test that failed may have left a runner that waits for ever.
const children = new Set();
after(() => children.forEach(child => child.kill('SIGKILL')));
process.on('exit', () => folders.forEach(folder => fs.rmSync(folder, { recursive: true, force: true })));

function temporary(name) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), name));
  folders.push(folder);
  return folder;
}

function makeRepository(files, version = newest) {
  const dir = temporary('tas-runner-');
  for (const [name, text] of Object.entries({ 'package.json': '{"private": true}', 'playwright.config.ts': 'export default {};', ...files })) {
    if (text === null)
      continue;
    fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    fs.writeFileSync(path.join(dir, name), text);
  }
  if (version)
    fs.symlinkSync(path.join(__dirname, 'versions', version, 'node_modules'), path.join(dir, 'node_modules'));
  return dir;
}

class Attempt {
  constructor(dir, start = {}, env = {}, runner = main) {
    this.outDir = temporary('tas-out-');
    this.messages = [];
    this.waiting = [];
    this.listeners = [];
    this.log = '';
    this.child = spawn(process.execPath, [runner], { cwd: dir, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
    children.add(this.child);
    this.child.once('close', () => children.delete(this.child));
    for (const stream of [this.child.stdout, this.child.stderr])
      stream.on('data', chunk => this.log = (this.log + chunk).slice(-20000));
    this.socket = this.child.stdio[3];
    this.socket.setEncoding('utf8');
    this.socket.on('error', () => {});
    let input = '';
    this.socket.on('data', chunk => {
      input += chunk;
      const lines = input.split('\n');
      input = lines.pop();
      for (const line of lines)
        this.receive(JSON.parse(line));
    });
    this.exit = new Promise(resolve => this.child.once('close', (code, signal) => {
      this.gone = true;
      this.waiting.splice(0).forEach(({ reject, what }) => reject(new Error(`the runner ended (${code ?? signal}) without ${what}\n${this.log}\n${this.said()}`)));
      resolve(code);
    }));
    this.send({
      type: 'start', protocol: 1, outDir: this.outDir, workers: 1, browsersDir: path.join(this.outDir, 'browsers'),
      systemBrowsers: { chromium: '/usr/lib/chromium/chromium', headlessShell: '/usr/lib/chromium/chromium-headless-shell' },
      grepTimeoutMs: 2000, hangFactor: 3, hangGraceMs: 1000, ...start,
    });
  }

  send(message) {
    this.socket.write(JSON.stringify(message) + '\n');
  }

  receive(message) {
    this.messages.push(message);
    this.listeners.forEach(listener => listener(message));
    this.waiting = this.waiting.filter(({ matches, resolve }) => !(matches(message) && (resolve(message), true)));
  }

  on(listener) {
    this.listeners.push(listener);
  }

  said() {
    return this.messages.map(message => JSON.stringify(message).slice(0, 300)).join('\n');
  }

  /** The first message of the type that was or will be sent, and that the filter likes. */
  wait(type, filter = () => true) {
    const matches = message => message.type === type && filter(message);
    const found = this.messages.find(matches);
    if (found)
      return Promise.resolve(found);
    if (this.gone)
      return Promise.reject(new Error(`the runner ended without ${type}\n${this.log}\n${this.said()}`));
    return new Promise((resolve, reject) => this.waiting.push({ matches, resolve, reject, what: type }));
  }

  all(type) {
    return this.messages.filter(message => message.type === type);
  }

  get tests() {
    return this.all('tests').flatMap(message => message.tests);
  }

  /** Listed tests by `project > title path`. */
  id(...titlePath) {
    const name = titlePath.join(' > ');
    const found = this.tests.filter(test => [test.project, ...test.titlePath].filter(Boolean).join(' > ') === name);
    if (found.length !== 1)
      throw new Error(`${found.length} tests are called ${name}: ${this.tests.map(test => [test.project, ...test.titlePath].join(' > ')).join('\n')}`);
    return found[0].id;
  }

  /** Selects after the listing; `what` may be a function of this attempt. */
  async select(what = { all: true }) {
    await this.wait('listed');
    this.send({ type: 'select', ids: {}, ...(typeof what === 'function' ? what(this) : what) });
  }

  /** What ran, as `project > title path` with the last status. */
  ran() {
    const names = new Map(this.tests.map(test => [test.id, [test.project, ...test.titlePath].filter(Boolean).join(' > ')]));
    return Object.fromEntries(this.all('testEnd').map(end => [names.get(end.id) ?? end.id, end.status]));
  }

  /** The units of the listed tests: unit → IDs, in the order of the listing. */
  get units() {
    const units = new Map();
    for (const { id, unit } of this.tests) {
      if (unit)
        units.set(unit, [...units.get(unit) ?? [], id]);
    }
    return units;
  }

  grant(...units) {
    this.send({ type: 'grant', units });
  }

  close() {
    this.send({ type: 'close' });
  }

  report(name) {
    return path.join(this.outDir, name);
  }
}

/** From start to the end of the process. */
async function run(dir, select, start, env) {
  const attempt = new Attempt(dir, start, env);
  if (!start?.listOnly)
    await attempt.select(select);
  await attempt.wait('bye');
  attempt.code = await attempt.exit;
  return attempt;
}

/** A small site to test against. */
async function site() {
  const server = http.createServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<title>${request.url}</title><h1>Shop</h1><button onclick="this.textContent = 'Sold'">Buy</button>`);
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/**
 * Plays the service to attempts that share a run: gives each that wants something the next unit of one queue, until
 * nothing is left of what it was offered. `take` may reorder or leave out units.
 */
function share(attempts, take = ids => ids) {
  const given = new Set();
  for (const attempt of attempts) {
    let offer;
    const next = () => {
      if (!offer)
        return;
      const want = attempt.all('want').at(-1);
      const left = take([...attempt.units.values()].map(ids => ids.filter(id => offer.has(id))).filter(ids => ids.length && !ids.some(id => given.has(id))));
      const granted = left.slice(0, Math.max(0, want.free - want.queued));
      granted.flat().forEach(id => given.add(id));
      if (granted.length)
        attempt.grant(...granted);
      if (granted.length === left.length) {
        offer = undefined;
        attempt.close();
      }
    };
    attempt.on(message => {
      if (message.type === 'offer')
        offer = new Set(message.ids);
      if (message.type === 'want')
        next();
    });
  }
}

/** Starts several processes that share a run, each with what `share` gives it. */
async function runShared(dir, { count = 2, select, start, env, take } = {}) {
  const attempts = Array.from({ length: count }, () => new Attempt(dir, { shards: Math.max(2, count), ...start }, env));
  share(attempts, take);
  await Promise.all(attempts.map(async attempt => {
    await attempt.select(select);
    await attempt.wait('bye');
    attempt.code = await attempt.exit;
  }));
  return attempts;
}

module.exports = { Attempt, makeRepository, newest, run, runShared, share, site, versions };
