"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
// The process that a worker starts in the sandbox: see PROTOCOL.md. Loads as little as it can before Playwright.
const fs = require("fs");
const net_1 = require("net");
const browsers_1 = require("./browsers");
const channel_1 = require("./channel");
const edits_1 = require("./edits");
const exit_1 = require("./exit");
const innards_1 = require("./innards");
const merge_1 = require("./merge");
const playwright_1 = require("./playwright");
const protocol_1 = require("./protocol");
const recovering_1 = require("./recovering");
const relay_1 = require("./relay");
const rewrites_1 = require("./rewrites");
const run_1 = require("./run");
const selection_1 = require("./selection");
const session_1 = require("./session");
const workers_1 = require("./workers");
const firstWithPreprocess = 62;
function main() {
    if (!isSocket(3)) {
        process.stderr.write('tas-runner is started by TAS, with a socket as file descriptor 3: see README.md\n');
        process.exit(2);
    }
    const channel = new channel_1.Channel(new net_1.Socket({ fd: 3, readable: true, writable: true }));
    let session;
    let relay;
    let selected = () => { };
    const selection = new Promise(resolve => selected = resolve);
    const abort = () => {
        if (!session || session.aborted)
            return;
        session.aborted = true;
        selected(undefined);
        if (session.start.merge) {
            session.stopChild?.();
            return;
        }
        if (relay) {
            relay.send({ type: 'abort' });
            return;
        }
        // What Ctrl+C does: running tests are interrupted, reports are written.
        process.emit('SIGINT', 'SIGINT');
        void session.workers.killAfterAbort(2000, 8000);
    };
    channel.onMessage((message) => {
        if (message.type === 'start' && !session) {
            session = createSession(channel, message, selection, started => relay = started);
            (0, session_1.setSession)(session);
            void begin(session, started => relay = started);
        }
        else if (message.type === 'select') {
            selected(message);
        }
        else if (message.type === 'abort') {
            abort();
        }
        else if (message.type === 'answer') {
            if (relay)
                relay.send({ ...message });
            else
                session?.workers.recovery?.answer(message);
        }
        else if (message.type === 'grant' || message.type === 'close') {
            if (relay)
                relay.send({ ...message });
            else
                session?.live?.onMessage(message);
        }
    });
    // Nobody is left to report to: stop, and do not hang on.
    channel.onClose(() => {
        if (!session)
            process.exit(2);
        if (session.ended)
            return;
        abort();
        setTimeout(() => process.exit(1), 30_000).unref();
    });
}
function createSession(channel, start, selection, onRelay) {
    const session = {
        channel, start, selection,
        mode: start.only ? 'only' : start.listOnly ? 'list' : 'ask',
        browsers: new browsers_1.Browsers(start),
        workers: new workers_1.Workers({ factor: start.hangFactor ?? 0, graceMs: start.hangGraceMs ?? 0 }),
        loadErrors: [],
        listedBefore: [],
        reportersSeeEachOthersErrors: false,
        reporting: false, listed: false, ended: false, aborted: false,
        fail(code, message) {
            if (session.ended)
                return;
            session.ended = true;
            channel.send({ type: 'failed', code, message });
            channel.send({ type: 'bye' });
            void channel.drain().then(() => process.exit(1));
        },
        async runAlone(ids, projects, record) {
            const child = (0, relay_1.startRunner)({ ...start, only: { ids, projects, loadErrors: session.loadErrors.length, record } }, message => {
                if (message.type === 'hello')
                    return;
                session.ended ||= message.type === 'bye';
                channel.send(message);
            });
            onRelay(child);
            await child.exited;
            if (!session.ended)
                session.fail('internal', 'the process that ran the set-up tests ended early');
            await channel.drain();
            process.exit(0);
        },
    };
    if (start.recover && !start.trial)
        session.workers.recovery = new recovering_1.Recovery(message => channel.send(message));
    return session;
}
async function begin(session, onRelay) {
    const { channel, start } = session;
    try {
        if (start.protocol !== protocol_1.PROTOCOL)
            return session.fail('internal', `this runner speaks protocol ${protocol_1.PROTOCOL}, not ${start.protocol}`);
        const playwright = (0, playwright_1.findPlaywright)(process.cwd());
        channel.send({
            type: 'hello', protocol: protocol_1.PROTOCOL, runner: (0, playwright_1.ownVersion)(), playwright: playwright.version, node: process.versions.node,
            repositoryRunner: (0, playwright_1.repositoryRunner)(process.cwd()),
        });
        session.playwright = playwright;
        if (start.merge)
            return await (0, merge_1.mergeBlobs)(session, playwright);
        const { edits, rewrites } = start.trial ?? {};
        if (edits?.length && rewrites?.length)
            return session.fail('edit', 'a trial has edits or rewrites, not both');
        if (edits?.length || rewrites?.length) {
            const { problem, ...edited } = rewrites?.length ? (0, rewrites_1.makeRewrites)(playwright, process.cwd(), rewrites) : (0, edits_1.makeEdits)(playwright, process.cwd(), edits);
            channel.send({ type: 'edited', ...edited });
            if (problem)
                return session.fail('edit', problem);
            start.trial = { ...start.trial, edits: undefined, rewrites: undefined }; // made once, whoever else is started
        }
        (0, exit_1.watchExit)(session, playwright);
        session.reportersSeeEachOthersErrors = playwright.minor >= firstWithPreprocess;
        if (session.mode === 'ask' && playwright.minor < firstWithPreprocess)
            await listElsewhere(session, onRelay);
        if (!session.ended)
            (0, run_1.runPlaywright)(session, playwright);
    }
    catch (error) {
        const code = error instanceof playwright_1.PlaywrightProblem ? error.code : error instanceof innards_1.NotLive ? 'not-live' : 'internal';
        session.fail(code, error.message);
    }
}
/** Before 1.62 a run cannot be asked in its middle what it would run: one process lists, this one runs. */
async function listElsewhere(session, onRelay) {
    const { channel, start } = session;
    const listed = [];
    let projects = [];
    let loadErrors = 0;
    let fatal = false;
    let broken = [];
    const lister = (0, relay_1.startRunner)({ ...start, listOnly: true, focus: true }, (message) => {
        if (message.type === 'tests') {
            for (const wire of message.tests) {
                listed.push({ wire, grepTitle: wire.grepTitle });
                delete wire.grepTitle;
            }
        }
        else if (message.type === 'suite') {
            projects = message.projects;
        }
        else if (message.type === 'error') {
            loadErrors++;
        }
        else if (message.type === 'listed') {
            session.listed = true;
            fatal = message.fatal;
            broken = message.brokenProjects ?? [];
            delete message.brokenProjects;
        }
        session.ended ||= message.type === 'failed';
        if (['suite', 'tests', 'error', 'listed', 'failed'].includes(message.type))
            channel.send(message);
    });
    onRelay(lister);
    await lister.exited;
    onRelay(undefined);
    if (session.ended) {
        channel.send({ type: 'bye' });
        await channel.drain();
        process.exit(1);
    }
    if (!session.listed)
        return session.fail('internal', 'the process that lists the tests ended early');
    if (fatal)
        return session.fail('bad-config', 'nothing can run: see the errors');
    const select = await session.selection;
    if (!select) {
        const startedAt = new Date().toISOString();
        channel.send({ type: 'begin', startedAt });
        channel.send({ type: 'end', status: 'interrupted', startedAt, durationMs: 0 });
        channel.send({ type: 'bye' });
        session.ended = true;
        await channel.drain();
        process.exit(130);
    }
    try {
        const chosen = (0, selection_1.choose)(select, listed, start.grepTimeoutMs ?? 10_000);
        const own = listed.filter(({ wire }) => chosen.has(wire.id) && !wire.setup).map(({ wire }) => wire.project);
        const along = (0, selection_1.projectsAlong)(projects, new Set(own));
        const reason = (0, selection_1.brokenSetup)(along, broken);
        if (reason)
            return session.fail('bad-config', reason);
        const orphans = select.all ? [] : (0, selection_1.orphanSetup)(chosen, listed, project => along.has(project));
        session.listedBefore = listed;
        session.mode = 'only';
        session.start.only = {
            ids: [...chosen],
            all: select.all,
            projects: orphans.length ? [...new Set(listed.filter(({ wire }) => chosen.has(wire.id)).map(({ wire }) => wire.project))] : undefined,
            loadErrors,
            record: select.record,
        };
    }
    catch (error) {
        session.fail((0, selection_1.problemCode)(error), error.message);
    }
}
function isSocket(fd) {
    try {
        return fs.fstatSync(fd).isSocket();
    }
    catch {
        return false;
    }
}
main();
