// Loaded before everything else into Playwright's worker processes where a project wants recovery, and nowhere else.
// Before an action of a locator it is waited until the locator finds something, for some seconds at most; where it finds
// nothing the service is asked which element is meant now. The action itself is sent once, and never twice: with the
// locator as it is written, or with the answer. Assertions are not touched.
import { Client, isInternal, pageOf } from './client';
import { instructed, whenLoaded, type Place } from './hooks';
import { answerMessage, answerWithinMs, askMessage, maxRecovered, recoveredMessage, type Answer, type Question } from './recovering';
import { pageLimits, readPage } from './recover-page';
import { template } from './template';

/** How long a locator may find nothing before anybody is asked. */
const patienceMs = 5000;
/** How long an action still waits when its time was spent with waiting for its locator. */
const leastMs = 100;
/** Questions of one try of a test, answered or not. */
const maxQuestions = 6;
const maxEarlier = 200;
const maxFailed = 50;

/** What acts on the element of a locator, and waits for it. */
const actions = new Set(['click', 'dblclick', 'tap', 'fill', 'check', 'uncheck', 'selectOption', 'hover', 'press', 'type', 'setInputFiles', 'focus']);

/** One try of a test. */
interface State {
  info: any;
  asked: number;
  recovered: number;
  /** The application failed: from then on nothing is recovered. */
  broken: boolean;
  failed: Question['failed'];
  uncaught: number;
  earlier: Map<string, { line: number; column: number }[]>;
}

class Recoverer {
  private client: Client;
  private state: State | undefined;
  private watched = new WeakSet<object>();
  /** Contexts that tests may share, and in which the application failed. */
  private broken = new WeakSet<object>();
  private waiting = new Map<number, (answer: Answer) => void>();
  private last = 0;

  constructor(place: Place) {
    this.client = new Client(place);
    process.on('message', (message: any) => {
      if (message?.method === answerMessage)
        this.waiting.get(message.params?.id)?.(message.params);
    });
  }

  install(connection: any): void {
    const { client } = this;
    client.wrap(connection, (to, object, method, params, rest) => {
      const state = this.current();
      if (!state)
        return client.send(to, object, method, params, rest);
      this.watch(object);
      if (object._type !== 'Frame' || !actions.has(method) || isInternal(rest) || !params?.strict || typeof params.selector !== 'string')
        return client.send(to, object, method, params, rest);
      const earlier = this.note(state, method, params.selector, client.framesOf(rest));
      if (!earlier || !this.may(state, object) || params.selector.includes('internal:control=enter-frame'))
        return client.send(to, object, method, params, rest);
      return this.act(state, to, object, method, params, rest, earlier);
    });
  }

  private current(): State | undefined {
    const info = this.client.info();
    if (info && this.state?.info !== info)
      this.state = { info, asked: 0, recovered: 0, broken: false, failed: [], uncaught: 0, earlier: new Map() };
    return info ? this.state : undefined;
  }

  /** Hears of the answers and errors of all pages, from before their first request on. */
  private watch(object: any): void {
    try {
      const context = object._type === 'BrowserContext' ? object : object._type === 'Page' ? object._browserContext : object._type === 'Frame' ? pageOf(object)?._browserContext : undefined;
      if (!context || this.watched.has(context))
        return;
      this.watched.add(context);
      context.on('response', (response: any) => this.hear(context, response));
      context.on('weberror', () => this.state && this.state.uncaught++);
    } catch {
      // of no page
    }
  }

  private hear(context: any, response: any): void {
    const status = response.status();
    const { state } = this;
    if (status >= 500) {
      this.broken.add(context);
      if (state)
        state.broken = true;
    } else if (status >= 400 && state && state.failed.length < maxFailed) {
      const path = template(response.url());
      if (path)
        state.failed.push({ method: response.request().method(), path, status });
    }
  }

  /** Remembers a step and answers those like it that came before in the same function; undefined for too many. */
  private note(state: State, method: string, selector: string, frames: any[]): Question['earlier'] | undefined {
    const at = frames[0];
    if (!at)
      return undefined;
    const key = JSON.stringify([method, selector, at.file, at.function ?? '']);
    const all = state.earlier.get(key) ?? [];
    state.earlier.set(key, all);
    const before = all.slice();
    if (all.length > maxEarlier)
      return undefined;
    all.push({ line: at.line ?? 0, column: at.column ?? 0 });
    return before;
  }

  private may(state: State, frame: any): boolean {
    return state.recovered < maxRecovered && state.asked < maxQuestions && !state.broken && !this.broken.has(pageOf(frame)?._browserContext)
      && state === this.state && state.info.expectedStatus === 'passed' && !!process.connected;
  }

  private async act(state: State, to: any, frame: any, method: string, params: any, rest: any[], earlier: Question['earlier']): Promise<any> {
    const { client } = this;
    const own = client.timeoutOf(frame, params, rest);
    const began = Date.now();
    let missing: any;
    try {
      await client.waitFor(frame, params.selector, Math.min(own || patienceMs, patienceMs), rest, params);
    } catch (error: any) {
      if (error?.name === 'TimeoutError')
        missing = error;
      // The page was closed, or the test's time is over: what the action itself would have said.
      else if (/has been closed|exceeded|crashed|Test ended/.test(error?.message))
        throw error;
    }
    const waited = Date.now() - began;
    if (missing && this.may(state, frame)) {
      const answer = await this.ask(state, frame, method, params.selector, rest, earlier).catch(() => undefined);
      const selector = answer?.locator && await this.selectorOf(answer.locator, frame, params.selector);
      if (selector && this.may(state, frame)) {
        const timeout = Math.min(own || patienceMs, patienceMs);
        const [changed, ...more] = client.withTimeout(frame, method, { ...params, selector }, rest, timeout);
        try {
          const result = await client.send(to, frame, method, changed, more);
          state.recovered++;
          process.send?.({ method: recoveredMessage, params: { id: answer.id } });
          return result;
        } catch {
          // It may have been done in part, so nothing more is: the test sees that its own locator found nothing.
          throw this.withNumber(missing, own);
        }
      }
    }
    if (!own || waited < leastMs)
      return client.send(to, frame, method, params, rest);
    const [changed, ...more] = client.withTimeout(frame, method, params, rest, Math.max(own - waited, leastMs));
    return client.send(to, frame, method, changed, more).catch(error => { throw this.withNumber(error, own); });
  }

  /** An error of Playwright's with the timeout that the test gave. */
  private withNumber(error: any, own: number): any {
    for (const field of own ? ['message', 'stack'] : []) {
      if (typeof error?.[field] === 'string')
        error[field] = error[field].replace(/Timeout \d+ms exceeded/, `Timeout ${own}ms exceeded`);
    }
    return error;
  }

  /** The selector of an answer, if it finds one element and the one that is written still none. */
  private async selectorOf(locator: string, frame: any, written: string): Promise<string | undefined> {
    try {
      const selector = this.client.selectorOf(locator, frame);
      const count = (of: string) => this.client.evaluate(frame, of, 'elements => elements.length');
      return await count(written) === 0 && await count(selector) === 1 ? selector : undefined;
    } catch {
      return undefined;
    }
  }

  private async ask(state: State, frame: any, method: string, selector: string, rest: any[], earlier: Question['earlier']): Promise<Answer | undefined> {
    state.asked++;
    const id = ++this.last;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>(resolve => timer = setTimeout(() => resolve(undefined), answerWithinMs));
    const answered = new Promise<Answer>(resolve => this.waiting.set(id, resolve));
    const asked = async () => {
      const page = await this.client.evaluate(frame, 'css=html', `elements => (${readPage})(elements[0], ${JSON.stringify(pageLimits)})`);
      if (typeof page !== 'string' || !page)
        return undefined;
      const stack = this.client.framesOf(rest).slice(0, 20).map(({ file, line, column, function: name }) => ({ file, line, column, function: name }));
      const question: Question = {
        id, method, selector, stack, earlier, url: String(frame.url()).replace(/[?#].*$/s, ''), page, failed: state.failed, uncaught: state.uncaught,
      };
      process.send?.({ method: askMessage, params: question });
      return answered;
    };
    try {
      return await Promise.race([late, asked()]);
    } finally {
      clearTimeout(timer);
      this.waiting.delete(id);
    }
  }
}

const place = instructed<Place>(__filename);
if (place)
  whenLoaded(place, connection => new Recoverer(place).install(connection));
