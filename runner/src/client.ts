// Playwright's client as hooks in its worker processes see it: all that a test asks of the browser passes through one
// method of its connection. How that method is called differs between versions; the differences are here.
import * as fs from 'fs';
import * as path from 'path';
import type { Place } from './hooks';

/** What a message is about: the object, the method, its parameters, and what the version adds. */
export type Sending = (connection: any, object: any, method: string, params: any, rest: any[]) => Promise<any>;

export class Client {
  private plain!: (...args: any[]) => Promise<any>;
  private connection: any;

  constructor(private place: Place) {}

  /** Wraps the client's one way to the browser. */
  wrap(connection: any, sending: Sending): void {
    const client = this;
    const prototype = Object.getPrototypeOf(connection);
    this.plain = prototype.sendMessageToServer;
    if (typeof this.plain !== 'function')
      throw new Error('tas-runner: this version of Playwright cannot be hooked into');
    prototype.sendMessageToServer = function(object: any, method: string, params: any, ...rest: any[]) {
      client.connection = this;
      return sending(this, object, method, params, rest);
    };
  }

  /** The message as it would have been sent. */
  send(connection: any, object: any, method: string, params: any, rest: any[]): Promise<any> {
    return this.plain.call(connection, object, method, params, ...rest);
  }

  /** A message past all that makes a step of it. */
  raw(object: any, method: string, params: any, options: { timeout?: number; signal?: any } = {}): Promise<any> {
    return this.older() ? this.plain.call(this.connection, object, method, params, undefined, [], undefined)
      : this.plain.call(this.connection, object, method, params, { internal: true, frames: [], timeout: 0, ...options });
  }

  /** The test that runs now; undefined between two tests. */
  info(): any {
    try {
      return require(path.join(this.place.testDir, 'test')).test.info();
    } catch {
      return undefined;
    }
  }

  /** What a function in the page answers for the elements that a selector finds, as JSON. */
  async evaluate(frame: any, selector: string, expression: string): Promise<any> {
    const text = `elements => JSON.stringify((${expression})(elements))`;
    const { value } = await this.raw(frame, 'evalOnSelectorAll', { selector, expression: text, isFunction: true, arg: { value: { v: 'undefined' }, handles: [] } });
    return JSON.parse(value.s);
  }

  /** Waits until a selector finds something, as an action on it does; fails as an action does. */
  async waitFor(frame: any, selector: string, timeout: number, like: any[], params: any): Promise<void> {
    const where = this.older() || 'timeout' in params ? { timeout } : {};
    await this.raw(frame, 'waitForSelector', { selector, state: 'attached', strict: false, omitReturnValue: true, ...where }, { timeout, signal: like[0]?.signal });
  }

  /** How long a message may wait, in milliseconds; 0 for ever. */
  timeoutOf(frame: any, params: any, rest: any[]): number {
    const given = params.timeout ?? rest[0]?.timeout;
    return given ?? plainTimeout(frame._page?._timeoutSettings?.timeout({})) ?? 0;
  }

  /** The parameters and the rest of a message with another timeout, where it has one. */
  withTimeout(object: any, method: string, params: any, rest: any[], timeout: number): any[] {
    if (typeof rest[0] === 'object' && rest[0] !== null && 'timeout' in rest[0])
      return [params, { ...rest[0], timeout }, ...rest.slice(1)];
    return takesTimeout(object, method, params) ? [{ ...params, timeout }, ...rest] : [params, ...rest];
  }

  /** The places in the test's source that a message comes from, the innermost first. */
  framesOf(rest: any[]): any[] {
    const frames = this.older() ? rest[1] : rest[0]?.frames;
    return Array.isArray(frames) ? frames : [];
  }

  /** A selector, or a locator as it is written in a test, as a selector. */
  selectorOf(text: string, frame: any): string {
    const page = pageOf(frame);
    const attribute = /internal:testid=\[(?:"([^"]*)"|([^=]*))=/.exec(page.getByTestId('x')._selector);
    const { coreDir } = this.place;
    const single = path.join(coreDir, 'lib', 'utils', 'isomorphic', 'locatorParser.js');
    const { locatorOrSelectorAsSelector } = fs.existsSync(single) ? require(single) : require(path.join(coreDir, 'lib', 'coreBundle.js')).iso;
    return locatorOrSelectorAsSelector('javascript', text, attribute?.[1] ?? attribute?.[2] ?? 'data-testid') || text;
  }

  /** Before 1.5x what the version adds are arguments of their own. */
  private older(): boolean {
    return this.plain.length > 4;
  }
}

export function pageOf(frame: any): any {
  return frame.page?.() ?? frame._page;
}

/** Of Playwright's own making, and no step: before 1.5x an argument says so, then an option. */
export function isInternal(rest: any[]): boolean {
  return typeof rest[0] === 'object' && rest[0] !== null ? !!rest[0].internal : !rest[0];
}

/** Newer versions keep what can abort a wait beside its timeout. */
export function plainTimeout(timeout: any): number | undefined {
  return typeof timeout === 'object' && timeout !== null ? timeout.timeout : timeout;
}

const untimed = new Set(['evalOnSelectorAll', 'querySelector', 'querySelectorAll', 'queryCount', 'highlight', 'evalOnSelector', 'resolveSelector', 'isVisible', 'isHidden']);

/** Where the parameters themselves say how long to wait. */
function takesTimeout(object: any, method: string, params: any): boolean {
  return 'timeout' in params || object._type === 'Frame' && !untimed.has(method);
}
