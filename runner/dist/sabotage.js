"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
// Loaded before everything else into Playwright's worker processes of a trial with sabotage, and nowhere else. A test
// that is worth having fails when the application breaks at the step that it is about: here the application breaks, as
// far as the test can see. What the test's code asks of the browser passes through one method of Playwright's client;
// at the step that is meant, that method does harm first.
const client_1 = require("./client");
const hooks_1 = require("./hooks");
const sabotage_page_1 = require("./sabotage-page");
const sabotaging_1 = require("./sabotaging");
const template_1 = require("./template");
const longestLookMs = 30_000;
const betweenLooksMs = 50;
const betweenRepairsMs = 100;
class Saboteur {
    instructions;
    state;
    client;
    constructor(instructions) {
        this.instructions = instructions;
        this.client = new client_1.Client(instructions);
    }
    install(connection) {
        const { client } = this;
        client.wrap(connection, (to, object, method, params, rest) => {
            const state = this.current();
            if (!state)
                return client.send(to, object, method, params, rest);
            const send = (changed) => {
                const [given, ...more] = this.limited(state, object, method, changed, rest);
                return client.send(to, object, method, given, more);
            };
            if (!state.reached && !(0, client_1.isInternal)(rest) && object._type === 'Frame' && params?.selector === state.spec.selector && method === state.spec.method && state.turn-- === 0) {
                state.reached = true;
                return this.harm(state, object, method, params, rest).then(send);
            }
            return state.reached ? send(params) : client.send(to, object, method, params, rest);
        });
    }
    /** The state of the test that runs now, if its repetition is one to be sabotaged. */
    current() {
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
    end() {
        const { state } = this;
        this.state = undefined;
        if (!state)
            return;
        state.over = true;
        for (const undo of state.undo)
            void Promise.resolve().then(undo).catch(() => { });
    }
    /** Does what is to be done at this step and answers its parameters. Whatever goes wrong, the step is taken. */
    async harm(state, frame, method, params, rest) {
        const { spec } = state;
        // A step that expects nothing there has nothing to wait for.
        const patience = params.isNot ? 1000 : Math.min(this.client.timeoutOf(frame, params, rest) || longestLookMs, longestLookMs);
        try {
            switch (spec.kind) {
                case 'remove':
                case 'handler':
                case 'text':
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
        }
        catch {
            // A page that is gone: the step will say so.
        }
        return params;
    }
    async breakElements(state, frame, selector, kind, patience) {
        const run = (order) => this.client.evaluate(frame, selector, `elements => (${sabotage_page_1.breakElements})(elements, ${JSON.stringify(order)})`);
        // Nothing is done before there is an element: the page's state begins with it.
        const there = await this.until(patience, () => this.client.evaluate(frame, selector, 'elements => elements.length'));
        const { count, prints } = there ? await run({ kind }) : { count: 0, prints: [] };
        if (!count)
            return;
        this.tell(state);
        await this.client.raw((0, client_1.pageOf)(frame), 'addInitScript', { source: `(${sabotage_page_1.breakElements})([], ${JSON.stringify({ kind, prints })})` }).catch(() => { });
        state.undo.push(() => run({ kind: 'off' }));
        void this.keepBroken(state, run, kind, prints);
    }
    /** What the page itself does not know for the same element is found by the selector. */
    async keepBroken(state, run, kind, prints) {
        for (let failures = 0; !state.over && failures < 100;) {
            await new Promise(resolve => setTimeout(resolve, betweenRepairsMs).unref());
            if (!state.over)
                await run({ kind, prints }).then(() => failures = 0, () => failures++);
        }
    }
    async failRequests(state, frame) {
        const { calls } = state.spec;
        const context = ((0, client_1.pageOf)(frame)).context();
        let changing = false;
        const handler = async (route) => {
            const request = route.request();
            const method = request.method().toUpperCase(), type = request.resourceType();
            let fits;
            if (calls?.length) {
                const address = (0, template_1.template)(request.url());
                fits = calls.some(call => call.method === method && call.path === address);
            }
            else {
                const changes = !['GET', 'HEAD', 'OPTIONS'].includes(method) && type !== 'ping';
                changing ||= changes;
                fits = changes || !changing && (type === 'xhr' || type === 'fetch');
            }
            if (!fits || state.over)
                return route.fallback();
            this.tell(state);
            return route.fulfill({ status: 500, contentType: 'text/plain', headers: { 'access-control-allow-origin': '*' }, body: 'sabotaged' });
        };
        const quietly = (route) => handler(route).catch(() => { });
        const matcher = '**/*';
        await context._wrapApiCall(() => context.route(matcher, quietly), { internal: true });
        state.undo.push(() => context._wrapApiCall(() => context.unroute(matcher, quietly), { internal: true }));
    }
    /** Says to the runner that the sabotage was done to this try. */
    tell(state) {
        if (process.connected)
            process.send?.({ method: sabotaging_1.doneMessage, params: { testId: state.info.testId, retry: state.info.retry } });
    }
    async until(patience, act) {
        const end = Date.now() + patience;
        for (;;) {
            const value = await act().catch(() => undefined);
            if (value || Date.now() >= end)
                return value;
            await new Promise(resolve => setTimeout(resolve, betweenLooksMs));
        }
    }
    /** The parameters and the rest of a message, with which a step waits no longer than it may. */
    limited(state, object, method, params, rest) {
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
    limitWaits(state, page, limit) {
        const settings = page?._timeoutSettings;
        if (!settings || Object.hasOwn(settings, 'timeout'))
            return;
        const shorter = (own) => own ? Math.min(own, limit) : limit;
        const { timeout } = settings;
        settings.timeout = (options) => {
            const own = timeout.call(settings, options);
            return state.over ? own : typeof own === 'object' ? { ...own, timeout: shorter(own.timeout) } : shorter(own);
        };
        const frame = page._mainFrame;
        for (const method of ['waitForURL', 'waitForNavigation']) {
            const wait = frame?.[method];
            const at = method === 'waitForURL' ? 1 : 0;
            if (typeof wait === 'function') {
                frame[method] = (...args) => {
                    if (!state.over)
                        args[at] = { ...args[at], timeout: shorter((0, client_1.plainTimeout)(settings.navigationTimeout(args[at] ?? {}))) };
                    return wait.apply(frame, args);
                };
                state.undo.push(() => delete frame[method]);
            }
        }
        state.undo.push(() => delete settings.timeout);
    }
}
const instructions = (0, hooks_1.instructed)(__filename);
if (instructions)
    (0, hooks_1.whenLoaded)(instructions, connection => new Saboteur(instructions).install(connection));
