// Drives scripted flows through one browser for bench/heal: it takes one order a line from its input and answers
// one line each. Flows run side by side, each in a browser context of its own, as Playwright's own tests do.
import { chromium, expect } from '@playwright/test';
import { readFileSync } from 'fs';
import * as readline from 'readline';

const file = name => readFileSync(new URL(name, import.meta.url), 'utf8');
const operators = `(() => { if (window.__tas) return;\nconst phrases = ${file('phrases.json')};\n${['inpage.js', 'heal.js', 'harm.js'].map(file).join('\n')} })()`;
const browser = await chromium.launch({ executablePath: process.env.BENCH_BROWSER || undefined, args: ['--disable-gpu'] });
const patient = 15000;

/** A locator as the source of a test has it. */
const locate = (page, code) => new Function('page', `return page.${code}`)(page);

/** Runs one order: steps of a flow, with the page changed from one step on, and other locators in some steps. */
async function run(order) {
  const context = await browser.newContext({ baseURL: order.base, viewport: { width: 1280, height: 900 } });
  const answer = { id: order.id, failed: -1, applied: false, right: {}, styles: {} };
  try {
    context.setDefaultTimeout(patient);
    const page = await context.newPage();
    page.on('dialog', d => d.accept().catch(() => {}));
    for (const s of order.setup ?? [])
      await setUp(context, s);
    if (order.trace)
      await context.tracing.start({ snapshots: true, screenshots: false, sources: false });
    const changes = order.change ? new Changes(page, order) : undefined;
    for (let i = 0; i < order.steps.length; i++) {
      const step = order.steps[i];
      let code = order.replace?.[i] ?? step.locator;
      if (changes && i >= order.change.step && step.locator) {
        const ready = await changes.before(i);
        answer.applied ||= ready;
        if (i === order.change.step && !ready)
          break;
        if (order.oracle && await changes.point(i))
          code = `locator('[data-tas-truth="${i}"]')`;
        if (order.replace?.[i])
          answer.right[i] = await changes.right(i, code);
      }
      const broken = Math.min(order.change?.step ?? Infinity, order.sabotage?.step ?? Infinity);
      const acting = { timeout: i >= broken ? order.patience ?? patient : patient };
      if (order.sabotage?.step === i)
        answer.sabotaged = await sabotage(page, code, order.sabotage.kind, acting);
      try {
        await act(page, step, code, acting);
      } catch (error) {
        answer.failed = i;
        answer.error = String(error.message).replace(/\x1b\[[0-9;]*m/g, '').slice(0, 2000);
        break;
      }
      if (order.styles?.[i])
        answer.styles[i] = await sameAs(page, step.locator, order.styles[i]);
    }
  } catch (error) {
    answer.broken = String(error.stack).slice(0, 600);
  }
  try {
    if (order.trace)
      await context.tracing.stop({ path: order.trace });
    await context.close();
  } catch (error) {
    answer.broken ??= String(error.message);
  }
  return answer;
}

/** What happens before the test's first step: requests that sign in or bring data. */
async function setUp(context, { path, form, data }) {
  const r = await context.request.post(path, { form, data, maxRedirects: 0 });
  if (r.status() >= 400)
    throw new Error(`${path} answered ${r.status()}`);
}

async function act(page, { verb, value }, code, acting) {
  const target = code ? locate(page, code) : undefined;
  switch (verb) {
    case 'goto': return void await page.goto(value, { timeout: 15000 });
    case 'click': return target.click(acting);
    case 'dblclick': return target.dblclick(acting);
    case 'fill': return target.fill(value, acting);
    case 'select': return void await target.selectOption(value, acting);
    case 'check': return target.check(acting);
    case 'press': return target.press(value, acting);
    case 'text': return expect(target).toHaveText(value, acting);
    case 'contains': return expect(target).toContainText(value, acting);
    case 'visible': return expect(target).toBeVisible(acting);
    case 'hidden': return expect(target).toBeHidden(acting);
    case 'value': return expect(target).toHaveValue(value, acting);
    case 'count': return expect(target).toHaveCount(Number(value), acting);
    case 'checked': return expect(target).toBeChecked(acting);
    case 'url': return expect(page).toHaveURL(new RegExp(value), acting);
  }
  throw new Error(`nobody knows ${verb}`);
}

/** Breaks the application under what a locator finds, and nothing else; whether it found anything. */
async function sabotage(page, code, kind, acting) {
  const target = locate(page, code);
  if (!await target.first().waitFor({ state: 'attached', timeout: acting.timeout }).then(() => true, () => false))
    return false;
  await page.evaluate(operators);
  if (kind === 'request')
    await refuse(page, 500);
  return target.evaluateAll((all, kind) => all.filter(e => window.__tas.sabotage(e, kind)).length > 0, kind);
}

/** Answers what the page's own code asks for, and navigations, with an error; status 0 for no answer at all. */
async function refuse(page, status) {
  await page.route('**/*', (route, request) => !['xhr', 'fetch', 'document'].includes(request.resourceType()) ? route.continue()
    : status ? route.fulfill({ status, contentType: 'text/html', body: '<h1>Internal Server Error</h1>' }) : route.abort('connectionrefused'));
}

/** Which of some locators find the one element that a step's own locator finds, and nothing else. */
async function sameAs(page, code, others) {
  const out = [];
  try {
    const own = await locate(page, code).elementHandle({ timeout: 300 });
    for (const other of others) {
      const found = await locate(page, other).elementHandles().catch(() => []);
      if (found.length === 1 && await found[0].evaluate((e, o) => e === o, own))
        out.push(other);
    }
  } catch {
    // It was gone after the step: then no other locator is known.
  }
  return out;
}

/** Changes the page under a flow, and knows which elements its steps meant before that. */
class Changes {
  constructor(page, order) {
    this.page = page;
    this.order = order;
    this.first = true;
  }

  /** Brings the change about before a step; false where it does not apply there. */
  async before(i) {
    const { page, order } = this;
    const own = order.steps[order.change.step].locator;
    if (this.first)
      await locate(page, own).first().waitFor({ state: 'attached' }).catch(() => {});
    const mine = order.steps[i].locator === own || order.change.page;
    if (this.first || mine)
      await this.settle(order.steps[i - 1]?.verb === 'fill' ? 350 : 80);
    await page.evaluate(operators);
    for (let j = i; j < order.steps.length; j++)
      if (order.steps[j].locator && (this.first || j === i))
        await locate(page, order.steps[j].locator).evaluateAll((all, j) => window.__tas.mark(all, j), j).catch(() => {});
    if (!this.first && !mine)
      return false;
    const done = await page.evaluate(c => window.__tas.apply(c), { ops: order.change.ops, seed: order.change.seed, step: this.first ? i : order.steps[i].locator === own ? i : -1, kind: order.steps[i].verb });
    if (done && order.change.ops.some(o => /500$/.test(o)))
      await refuse(page, 500);
    if (done && order.change.ops.includes('offline'))
      await refuse(page, 0);
    this.first = false;
    return done;
  }

  /** Waits until the page has been quiet for a while, at most a second. */
  async settle(quiet) {
    await this.page.evaluate(quiet => new Promise(done => {
      let timer = setTimeout(done, quiet);
      new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(done, quiet); }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      setTimeout(done, 1000);
    }), quiet).catch(() => {});
  }

  /** Marks the element that a step means, so that a locator that knows the truth finds it. */
  async point(i) {
    return this.page.evaluate(i => window.__tas.point(i), i);
  }

  /** Whether a locator finds the element that a step meant. */
  async right(i, code) {
    try {
      await locate(this.page, code).first().waitFor({ state: 'attached', timeout: this.order.patience ?? patient });
      return await locate(this.page, code).evaluateAll((all, i) => window.__tas.right(all, i), i);
    } catch {
      return 'none';
    }
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  run(JSON.parse(line)).then(answer => process.stdout.write(JSON.stringify(answer) + '\n'));
}
await browser.close();
