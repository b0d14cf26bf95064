// Makes failures.json: runs real Playwright (three versions) against the broken application.
//   node src/generate.mjs [--quick] [--only=regex] [--collect]
// --quick: short timeouts (a check of the sources), --only: labels that match, --collect: no runs, only choose again from ws/*.jsonl
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { spawn } from 'node:child_process';

const SRC = import.meta.dirname;
const ROOT = process.env.CORPUS ?? path.join(os.tmpdir(), 'tas-failures'); // work, and what comes of it
const VERSIONS = path.resolve(SRC, '../../../runner/test/versions'); // npm run versions puts them there
const arg = n => (process.argv.find(a => a.startsWith('--' + n)) || '').split('=');
const QUICK = !!arg('quick')[0], COLLECT = !!arg('collect')[0], ONLY = arg('only')[1] && new RegExp(arg('only')[1]);

const RUNS = [
  { id: 'r1', v: '1.56', dir: 'build-1041/e2e', t: 7000, e: 4000, host: '127.0.0.1' },
  { id: 'r2', v: '1.56', dir: 'build-1057/e2e', t: 8500, e: 5000, host: 'pr-512.shop.nordlicht.test' },
  { id: 'r3', v: '1.65', dir: 'agent-3/_work/7/s', t: 30000, e: 4000, a: 3000, host: 'staging.nordlicht.test' },
  { id: 'r4', v: '1.65', dir: 'agent-1/_work/7/s', t: 30000, e: 2500, a: 4000, host: 'pr-640.shop.nordlicht.test' },
  { id: 'r5', v: '1.50', dir: 'builds/qa/webshop-e2e', t: 7500, e: 5000, host: '127.0.0.1' },
  { id: 'r6', v: '1.50', dir: 'builds/qa2/webshop-e2e', t: 9000, e: 3000, host: 'test2.nordlicht.test' },
  { id: 'r7', v: '1.65', dir: 'agent-2/_work/9/s', t: 6500, e: 5000, host: 'staging.nordlicht.test' },
];
const HOME = { 50: ['r5', 'r6'], 56: ['r1', 'r2'], 65: ['r3', 'r4'], mix: ['r1', 'r3', 'r5', 'r7', 'r2', 'r4', 'r6'] };

function rng(seed) { let a = [...seed].reduce((h, c) => Math.imul(h ^ c.charCodeAt(0), 16777619), 2166136261) >>> 0; return () => { a = (a + 0x6D2B79F5) | 0; let t = Math.imul(a ^ (a >>> 15), 1 | a); t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return ((t ^ (t >>> 14)) >>> 0) / 4294967296; }; }
const walk = d => fs.readdirSync(d, { withFileTypes: true }).flatMap(e => e.isDirectory() ? walk(path.join(d, e.name)) : [path.join(d, e.name)]);

// ---------------------------------------------------------------- sources -> one check-out per run, with labels taken out
const COMMENTS = ['// TODO: use the fixtures of the platform team', '// see https://wiki.example.test/e2e', '/* eslint-disable no-console */', '// keep in step with the mobile tests', '', '// owner: team checkout', '// flaky on Mondays? ask in #qa', '', '// ported from Cypress'];
const INNER = ['// the page needs a moment after a deployment', '// see SHOP-1832', '// works with the data of the nightly import'];
const labels = new Map(); // label -> {size, home, units:[{file, key, mult}], flags}
const where = {};         // run -> "file:line" -> label

function prepare(run) {
  const dest = path.join(ROOT, 'ws', run.dir);
  fs.rmSync(dest, { recursive: true, force: true });
  fs.mkdirSync(dest, { recursive: true });
  where[run.id] = new Map();
  for (const f of walk(path.join(SRC, 'repo'))) {
    const rel = path.relative(path.join(SRC, 'repo'), f);
    const out = path.join(dest, rel);
    fs.mkdirSync(path.dirname(out), { recursive: true });
    if (!f.endsWith('.ts')) { fs.copyFileSync(f, out); continue; }
    const r = rng(run.id + rel);
    const later = ['r2', 'r4', 'r6'].includes(run.id);
    const lines = fs.readFileSync(f, 'utf8').split('\n');
    const lastImport = lines.findLastIndex(l => /^import /.test(l));
    const res = [];
    let pending = null, n = 0;
    lines.forEach((l, i) => {
      const m = /^\s*\/\/#bug (\S+)(.*)$/.exec(l);
      if (m) { pending = [m[1], m[2].trim()]; return; }
      if (/\/\/#A$/.test(l)) { if (later) return; l = l.replace(/ *\/\/#A$/, ''); }
      if (/\/\/#B$/.test(l)) { if (!later) return; l = l.replace(/ *\/\/#B$/, ''); }
      if (run.id === 'r4') l = l.replace(/const cart = new/, 'const cartPage = new').replace(/\bcart\.(open|checkout|expectBadge|total|removeFirst|checkoutButton)/g, 'cartPage.$1');
      if (later && /^\s+await page\.goto\(.*\);$/.test(l) && r() < .12) res.push(l.match(/^\s*/)[0] + INNER[Math.floor(r() * INNER.length)]);
      res.push(l);
      if (pending && /\btest\(/.test(l)) {
        where[run.id].set(`${rel}:${res.length}`, pending[0]);
        unit(pending, rel, n++, run.id, res.length);
        pending = null;
      }
      if (i === lastImport && run.id !== 'r1') for (let k = Math.floor(r() * 6); k > 0; k--) res.push(COMMENTS[Math.floor(r() * COMMENTS.length)]);
    });
    fs.writeFileSync(out, res.join('\n'));
  }
  const nm = path.join(ROOT, 'nm', run.v);
  if (!fs.existsSync(nm)) fs.cpSync(`${VERSIONS}/${run.v}/node_modules`, path.join(nm, 'node_modules'), { recursive: true });
  fs.symlinkSync(path.join(nm, 'node_modules'), path.join(dest, 'node_modules'));
  const shots = path.join(ROOT, 'ws', 'screenshots');
  if (fs.existsSync(shots)) fs.cpSync(shots, path.join(dest, 'tests/__screenshots__'), { recursive: true });
  return dest;
}
function unit([label, rest], file, key, run, line) {
  let l = labels.get(label);
  if (!l) labels.set(label, l = { label, units: new Map() });
  const w = rest.split(/\s+/).filter(Boolean);
  if (/^\d+$/.test(w[0])) l.size = +w.shift();
  const mult = +(w.find(x => /^x\d+$/.test(x)) || 'x1').slice(1);
  const home = w.find(x => HOME[x]);
  if (home) l.home = home;
  if (w.includes('nobrowser')) l.nobrowser = true;
  const id = `${file}#${key}`;
  if (!l.units.has(id)) l.units.set(id, { file, mult, lines: {} });
  l.units.get(id).lines[run] = line;
}

// ---------------------------------------------------------------- which test fails in which run
function plan() {
  const todo = new Map(); // "run|nobrowser" -> Set(file:line)
  for (const l of labels.values()) {
    if (!l.size) throw new Error('no size: ' + l.label);
    if (ONLY && !ONLY.test(l.label)) continue;
    const h = rng(l.label)();
    l.home ||= l.size > 1 && h < .15 ? 'mix' : h < .48 ? '56' : h < .88 ? '65' : '50';
    const runs = [...HOME[l.home]];
    if (l.home !== 'mix' && rng(l.label + 'x')() < .5) runs.reverse();
    const units = [...l.units.values()];
    let have = 0;
    outer: for (let k = 0; k < runs.length; k++)
      for (let u = 0; u < units.length; u++) {
        if (have >= l.size) break outer;
        const run = runs[(k + u) % runs.length];
        const key = `${run}|${l.nobrowser ? 1 : ''}`;
        if (!todo.has(key)) todo.set(key, new Set());
        todo.get(key).add(`${units[u].file}:${units[u].lines[run]}`);
        have += units[u].mult;
      }
    if (have < l.size) console.log(`plan: ${l.label} gets ${have} of ${l.size}`);
  }
  return todo;
}

// ---------------------------------------------------------------- running
const cleanEnv = () => { const e = { ...process.env, FORCE_COLOR: '1', PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1' }; for (const k of Object.keys(e)) if (/proxy$/i.test(k) || k === 'CI' || k === 'NO_COLOR') delete e[k]; return e; };
function server(good) {
  return new Promise(f => {
    const p = spawn(process.execPath, [path.join(SRC, 'app.cjs')], { env: { ...cleanEnv(), APP_GOOD: good ? '1' : '' } });
    p.stderr.pipe(process.stderr);
    p.stdout.once('data', d => f({ p, port: +/\d+/.exec(d)[0] }));
  });
}
function playwright(run, dest, args, env) {
  return new Promise(f => {
    const p = spawn(process.execPath, ['node_modules/playwright/cli.js', 'test', ...args], { cwd: dest, env: { ...cleanEnv(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = ''; p.stdout.on('data', d => out += d); p.stderr.on('data', d => out += d);
    p.on('exit', code => { if (out.trim()) console.log(`[${run.id}] ${out.trim().slice(0, 1500)}`); f(code); });
  });
}
const envOf = (run, port, out) => ({
  BASE_URL: `http://${run.host}:${port}`, API_URL: `http://127.0.0.1:${port}`,
  BACKOFFICE_URL: run.host === '127.0.0.1' ? `http://127.0.0.1:${4300 + +run.id[1]}` : `http://backoffice.${run.host}:${4300 + +run.id[1]}`,
  T_TEST: QUICK ? 3500 : run.t, T_EXPECT: QUICK ? 800 : run.e, T_ACTION: run.a ? (QUICK ? 1000 : run.a) : 0,
  CORPUS_REPORTER: path.join(SRC, 'reporter.cjs'), CORPUS_OUT: out, HOME: path.join(ROOT, 'ws/home'),
});

async function main() {
  const outOf = run => path.join(ROOT, 'ws', run.id + (QUICK ? '.quick' : '') + '.jsonl');
  const dests = {};
  for (const run of RUNS) dests[run.id] = COLLECT ? prepareOnly(run) : prepare(run);
  const todo = plan();
  if (!COLLECT) {
    if (!fs.existsSync(path.join(ROOT, 'ws/screenshots'))) {
      const s = await server(true), run = RUNS[2];
      await playwright(run, dests.r3, ['tests/content/visual.spec.ts', '--update-snapshots'], envOf(run, s.port, '/dev/null'));
      s.p.kill();
      fs.cpSync(path.join(dests.r3, 'tests/__screenshots__'), path.join(ROOT, 'ws/screenshots'), { recursive: true });
      for (const f of walk(path.join(ROOT, 'ws/screenshots'))) if (/newsletter/.test(f)) fs.rmSync(f);
      for (const r of RUNS) { fs.rmSync(path.join(dests[r.id], 'tests/__screenshots__'), { recursive: true, force: true }); fs.cpSync(path.join(ROOT, 'ws/screenshots'), path.join(dests[r.id], 'tests/__screenshots__'), { recursive: true }); }
    }
    for (const run of RUNS) fs.rmSync(outOf(run), { force: true });
    for (const [key, set] of [...todo].sort()) {
      const [id, nobrowser] = key.split('|');
      const run = RUNS.find(r => r.id === id);
      const s = await server(false);
      const start = Date.now();
      await playwright(run, dests[id], [...set].map(x => x.replace(/\./g, '\\.') + ''), { ...envOf(run, s.port, outOf(run)), ...(nobrowser ? { CORPUS_NO_BROWSER: '1' } : {}) });
      s.p.kill();
      console.log(`${key} ${run.v}: ${set.size} tests asked, ${Math.round((Date.now() - start) / 1000)} s`);
    }
  }
  collect(outOf, dests);
}
function prepareOnly(run) { return prepare(run); }

// ---------------------------------------------------------------- choosing
function collect(outOf, dests) {
  const by = new Map();
  for (const run of RUNS) {
    if (!fs.existsSync(outOf(run))) continue;
    for (const line of fs.readFileSync(outOf(run), 'utf8').trim().split('\n').filter(Boolean)) {
      const t = JSON.parse(line);
      const label = where[run.id].get(`${t.testFile}:${t.line}`);
      if (t.passed) { console.log(`PASSED: ${run.id} ${t.testFile}:${t.line} ${t.title}`); continue; }
      if (!label) { console.log('no label', t.testFile, t.line); continue; }
      const e0 = t.errors[0], rest = t.errors.slice(1);
      const timeout = /timeout of \d+ms exceeded|exceeded the test timeout|ran out of time/i.test(e0.message);
      const e = timeout && rest.length ? rest[0] : e0;
      const located = [e, e0, ...rest].find(x => x.file);
      const f = {
        bug: label, test: t.title, file: located ? located.file : t.testFile,
        message: timeout && rest.length ? `${e0.message}\n${rest[0].message}` : e0.message,
        stack: e.stack || e0.stack || '', snippet: e.snippet || e0.snippet || '',
      };
      // a bare timeout because the machine was slow tells nobody anything: only the label that is meant so may have it
      if (/^Test timeout of \d+ms exceeded\.$/.test(f.message) && label !== 'report-queue-hangs') { console.log(`dropped: ${label} ${run.id} ${t.title}`); continue; }
      if (!by.has(label)) by.set(label, []);
      by.get(label).push({ f, meta: { run: run.id, version: run.v, testFile: t.testFile, line: t.line, errors: t.errors.length } });
    }
  }
  const all = [];
  for (const l of labels.values()) {
    const got = by.get(l.label) || [];
    if (got.length < l.size && (!ONLY || ONLY.test(l.label))) console.log(`short: ${l.label} ${got.length} of ${l.size}`);
    // as different as can be: alternate the runs
    const q = new Map(); for (const g of got) { if (!q.has(g.meta.run)) q.set(g.meta.run, []); q.get(g.meta.run).push(g); }
    const order = []; while ([...q.values()].some(x => x.length)) for (const x of q.values()) if (x.length) order.push(x.shift());
    all.push(...order.slice(0, l.size));
  }
  const r = rng('order');
  for (let i = all.length - 1; i > 0; i--) { const j = Math.floor(r() * (i + 1)); [all[i], all[j]] = [all[j], all[i]]; }
  const name = QUICK ? 'quick' : 'failures';
  fs.writeFileSync(path.join(ROOT, name + '.json'), JSON.stringify(all.map(x => x.f), null, 1));
  fs.writeFileSync(path.join(ROOT, name + '-meta.json'), JSON.stringify(all.map(x => ({ bug: x.f.bug, test: x.f.test, ...x.meta }))));
  console.log(`${all.length} failures, ${new Set(all.map(x => x.f.bug)).size} labels`);
}
await main();
