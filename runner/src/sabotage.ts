// Loaded before everything else into Playwright's worker processes of a trial with sabotage, and nowhere else. A test
// that is worth having fails when the application breaks at the step that it is about: here the application breaks, as
// far as the test can see. What the test's code asks of the browser passes through one method of Playwright's client;
// at the step that is meant, that method does harm first.
import { Client, isInternal, pageOf, plainTimeout } from './client';
import { instructed, whenLoaded } from './hooks';
import type { Sabotage } from './protocol';
import { breakElements, type Broken, type Order, type Print } from './sabotage-page';
import { doneMessage, type Instructions } from './sabotaging';
import { template } from './template';

/** What was done to one try of a test. */
interface State {
  info: any;
  spec: Sabotage;
  /** How many steps with the selector are still to come before. */
  turn: number;
  reached: boolean;
  over: boolean;
  undo: (() => unknown)[];
}

const longestLookMs = 30_000;
const betweenLooksMs = 50;
const betweenRepairsMs = 100;

class Saboteur {
  private state: State | undefined;
  private client: Client;

  constructor(private instructions: Instructions) {
    this.client = new Client(instructions);
  }

  install(connection: any): void {
    const { client } = this;
    client.wrap(connection, (to, object, method, params, rest) => {
      const state = this.current();
      if (!state)
        return client.send(to, object, method, params, rest);
      const send = (changed: any) => {
        const [given, ...more] = this.limited(state, object, method, changed, rest);
        return client.send(to, object, method, given, more);
      };
      if (!state.reached && !isInternal(rest) && object._type === 'Frame' && params?.selector === state.spec.selector && method === state.spec.method && state.turn-- === 0) {
        state.reached = true;
        return this.harm(state, object, method, params, rest).then(send);
      }
      return state.reached ? send(params) : client.send(to, object, method, params, rest);
    });
  }

  /** The state of the test that runs now, if its repetition is one to be sabotaged. */
  private current(): State | undefined {
    const info = this.client.info();
    if (!info)
      return this.state;
    if (this.state?.info !== info) {
      this.end();
      const spec = this.instructions.sabotage[info.repeatEachIndex];
      this.state = spec?.kind ? { info, spec, turn: spec.turn ?? 0, reached: false, over: false, undo: [] } : undefined;
    }
    return this.state;
  }

  private end(): void {
    const { state } = this;
    this.state = undefined;
    if (!state)
      return;
    state.over = true;
    for (const undo of state.undo)
      void Promise.resolve().then(undo).catch(() => {});
  }

  /** Does what is to be done at this step and answers its parameters. Whatever goes wrong, the step is taken. */
  private async harm(state: State, frame: any, method: string, params: any, rest: any[]): Promise<any> {
    const { spec } = state;
    // A step that expects nothing there has nothing to wait for.
    const patience = params.isNot ? 1000 : Math.min(this.client.timeoutOf(frame, params, rest) || longestLookMs, longestLookMs);
    try {
      switch (spec.kind) {
        case 'remove': case 'handler': case 'text':
          await this.breakElements(state, frame, params.selector, spec.kind, patience);
          break;
        case 'request':
          await this.failRequests(state, frame);
          break;
        case 'rival': {
          const rival = this.client.selectorOf(spec.rival ?? '', frame);
          const there = await this.until(Math.min(patience, spec.limitMs || patience), () => this.client.evaluate(frame, rival, 'elements => elements.length'));
          if (!there)
            break;
          this.tell(state);
          return { ...params, selector: there > 1 ? `${rival} >> nth=0` : rival };
        }
      }
    } catch {
      // A page that is gone: the step will say so.
    }
    return params;
  }

  private async breakElements(state: State, frame: any, selector: string, kind: Order['kind'], patience: number): Promise<void> {
    const run = (order: Order): Promise<Broken> => this.client.evaluate(frame, selector, `elements => (${breakElements})(elements, ${JSON.stringify(order)})`);
    // Nothing is done before there is an element: the page's state begins with it.
    const there = await this.until(patience, () => this.client.evaluate(frame, selector, 'elements => elements.length'));
    const { count, prints } = there ? await run({ kind }) : { count: 0, prints: [] };
    if (!count)
      return;
    this.tell(state);
    await this.client.raw(pageOf(frame), 'addInitScript', { source: `(${breakElements})([], ${JSON.stringify({ kind, prints })})` }).catch(() => {});
    state.undo.push(() => run({ kind: 'off' }));
    void this.keepBroken(state, run, kind, prints);
  }

  /** What the page itself does not know for the same element is found by the selector. */
  private async keepBroken(state: State, run: (order: Order) => Promise<Broken>, kind: Order['kind'], prints: Print[]): Promise<void> {
    for (let failures = 0; !state.over && failures < 100;) {
      await new Promise(resolve => setTimeout(resolve, betweenRepairsMs).unref());
      if (!state.over)
        await run({ kind, prints }).then(() => failures = 0, () => failures++);
    }
  }

  private async failRequests(state: State, frame: any): Promise<void> {
    const { calls } = state.spec;
    const context = (pageOf(frame)).context();
    let changing = false;
    const handler = async (route: any) => {
      const request = route.request();
      const method = request.method().toUpperCase(), type = request.resourceType();
      let fits: boolean;
      if (calls?.length) {
        const address = template(request.url());
        fits = calls.some(call => call.method === method && call.path === address);
      } else {
        const changes = !['GET', 'HEAD', 'OPTIONS'].includes(method) && type !== 'ping';
        changing ||= changes;
        fits = changes || !changing && (type === 'xhr' || type === 'fetch');
      }
      if (!fits || state.over)
        return route.fallback();
      this.tell(state);
      return route.fulfill({ status: 500, contentType: 'text/plain', headers: { 'access-control-allow-origin': '*' }, body: 'sabotaged' });
    };
    const quietly = (route: any) => handler(route).catch(() => {});
    const matcher = '**/*';
    await context._wrapApiCall(() => context.route(matcher, quietly), { internal: true });
    state.undo.push(() => context._wrapApiCall(() => context.unroute(matcher, quietly), { internal: true }));
  }

  /** Says to the runner that the sabotage was done to this try. */
  private tell(state: State): void {
    if (process.connected)
      process.send?.({ method: doneMessage, params: { testId: state.info.testId, retry: state.info.retry } });
  }

  private async until(patience: number, act: () => Promise<any>): Promise<any> {
    const end = Date.now() + patience;
    for (;;) {
      const value = await act().catch(() => undefined);
      if (value || Date.now() >= end)
        return value;
      await new Promise(resolve => setTimeout(resolve, betweenLooksMs));
    }
  }

  /** The parameters and the rest of a message, with which a step waits no longer than it may. */
  private limited(state: State, object: any, method: string, params: any, rest: any[]): any[] {
    const limit = state.spec.limitMs ?? 0;
    const waits = object._type === 'Frame' && (params?.selector !== undefined || method === 'dragAndDrop' || method === 'waitForFunction' || method === 'expect')
      || object._type === 'ElementHandle' || object._type === 'Page' && method === 'expectScreenshot';
    if (!limit || !waits || state.over)
      return [params, ...rest];
    const page = object._page ?? object._frame?._page ?? (object._type === 'Page' ? object : undefined);
    const own = this.client.timeoutOf({ _page: page }, params, rest);
    const timeout = own ? Math.min(own, limit) : limit;
    this.limitWaits(state, page, limit);
    return this.client.withTimeout(object, method, params, rest, timeout);
  }

  /** What waits on this side: for an event, a request, another address. */
  private limitWaits(state: State, page: any, limit: number): void {
    const settings = page?._timeoutSettings;
    if (!settings || Object.hasOwn(settings, 'timeout'))
      return;
    const shorter = (own: number | undefined) => own ? Math.min(own, limit) : limit;
    const { timeout } = settings;
    settings.timeout = (options: any) => {
      const own = timeout.call(settings, options);
      return state.over ? own : typeof own === 'object' ? { ...own, timeout: shorter(own.timeout) } : shorter(own);
    };
    const frame = page._mainFrame;
    for (const method of ['waitForURL', 'waitForNavigation']) {
      const wait = frame?.[method];
      const at = method === 'waitForURL' ? 1 : 0;
      if (typeof wait === 'function') {
        frame[method] = (...args: any[]) => {
          if (!state.over)
            args[at] = { ...args[at], timeout: shorter(plainTimeout(settings.navigationTimeout(args[at] ?? {}))) };
          return wait.apply(frame, args);
        };
        state.undo.push(() => delete frame[method]);
      }
    }
    state.undo.push(() => delete settings.timeout);
  }
}

const instructions = instructed<Instructions>(__filename);
if (instructions)
  whenLoaded(instructions, connection => new Saboteur(instructions).install(connection));
