// The process that a worker starts in the sandbox: see PROTOCOL.md. Loads as little as it can before Playwright.
import * as fs from 'fs';
import { Socket } from 'net';
import { Browsers } from './browsers';
import { Channel } from './channel';
import { makeEdits } from './edits';
import { watchExit } from './exit';
import { NotLive } from './innards';
import { mergeBlobs } from './merge';
import { findPlaywright, ownVersion, PlaywrightProblem, repositoryRunner } from './playwright';
import { PROTOCOL, type FailCode, type FromAttempt, type Select, type Start } from './protocol';
import { Recovery } from './recovering';
import { startRunner, type Relay } from './relay';
import { makeRewrites } from './rewrites';
import { runPlaywright } from './run';
import { brokenSetup, choose, orphanSetup, problemCode, projectsAlong, type Listed } from './selection';
import { setSession, type Session } from './session';
import { Workers } from './workers';

const firstWithPreprocess = 62;

function main(): void {
  if (!isSocket(3)) {
    process.stderr.write('tas-runner is started by TAS, with a socket as file descriptor 3: see README.md\n');
    process.exit(2);
  }
  const channel = new Channel(new Socket({ fd: 3, readable: true, writable: true }));
  let session: Session | undefined;
  let relay: Relay | undefined;
  let selected: (select: Select | undefined) => void = () => {};
  const selection = new Promise<Select | undefined>(resolve => selected = resolve);

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

  channel.onMessage((message: FromAttempt) => {
    if (message.type === 'start' && !session) {
      session = createSession(channel, message, selection, started => relay = started);
      setSession(session);
      void begin(session, started => relay = started);
    } else if (message.type === 'select') {
      selected(message);
    } else if (message.type === 'abort') {
      abort();
    } else if (message.type === 'answer') {
      if (relay)
        relay.send({ ...message });
      else
        session?.workers.recovery?.answer(message);
    } else if (message.type === 'grant' || message.type === 'close') {
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

function createSession(channel: Channel, start: Start, selection: Promise<Select | undefined>, onRelay: (relay: Relay | undefined) => void): Session {
  const session: Session = {
    channel, start, selection,
    mode: start.only ? 'only' : start.listOnly ? 'list' : 'ask',
    browsers: new Browsers(start),
    workers: new Workers({ factor: start.hangFactor ?? 0, graceMs: start.hangGraceMs ?? 0 }),
    loadErrors: [],
    listedBefore: [],
    reportersSeeEachOthersErrors: false,
    reporting: false, listed: false, ended: false, aborted: false,
    fail(code: FailCode, message: string) {
      if (session.ended)
        return;
      session.ended = true;
      channel.send({ type: 'failed', code, message });
      channel.send({ type: 'bye' });
      void channel.drain().then(() => process.exit(1));
    },
    async runAlone(ids, projects, record) {
      const child = startRunner({ ...start, only: { ids, projects, loadErrors: session.loadErrors.length, record } }, message => {
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
    session.workers.recovery = new Recovery(message => channel.send(message));
  return session;
}

async function begin(session: Session, onRelay: (relay: Relay | undefined) => void): Promise<void> {
  const { channel, start } = session;
  try {
    if (start.protocol !== PROTOCOL)
      return session.fail('internal', `this runner speaks protocol ${PROTOCOL}, not ${start.protocol}`);
    const playwright = findPlaywright(process.cwd());
    channel.send({
      type: 'hello', protocol: PROTOCOL, runner: ownVersion(), playwright: playwright.version, node: process.versions.node,
      repositoryRunner: repositoryRunner(process.cwd()),
    });
    session.playwright = playwright;
    if (start.merge)
      return await mergeBlobs(session, playwright);
    const { edits, rewrites } = start.trial ?? {};
    if (edits?.length && rewrites?.length)
      return session.fail('edit', 'a trial has edits or rewrites, not both');
    if (edits?.length || rewrites?.length) {
      const { problem, ...edited } = rewrites?.length ? makeRewrites(playwright, process.cwd(), rewrites) : makeEdits(playwright, process.cwd(), edits!);
      channel.send({ type: 'edited', ...edited });
      if (problem)
        return session.fail('edit', problem);
      start.trial = { ...start.trial, edits: undefined, rewrites: undefined }; // made once, whoever else is started
    }
    watchExit(session, playwright);
    session.reportersSeeEachOthersErrors = playwright.minor >= firstWithPreprocess;
    if (session.mode === 'ask' && playwright.minor < firstWithPreprocess)
      await listElsewhere(session, onRelay);
    if (!session.ended)
      runPlaywright(session, playwright);
  } catch (error) {
    const code = error instanceof PlaywrightProblem ? error.code : error instanceof NotLive ? 'not-live' : 'internal';
    session.fail(code, (error as Error).message);
  }
}

/** Before 1.62 a run cannot be asked in its middle what it would run: one process lists, this one runs. */
async function listElsewhere(session: Session, onRelay: (relay: Relay | undefined) => void): Promise<void> {
  const { channel, start } = session;
  const listed: Listed[] = [];
  let projects: any[] = [];
  let loadErrors = 0;
  let fatal = false;
  let broken: string[] = [];
  const lister = startRunner({ ...start, listOnly: true, focus: true }, (message: any) => {
    if (message.type === 'tests') {
      for (const wire of message.tests) {
        listed.push({ wire, grepTitle: wire.grepTitle });
        delete wire.grepTitle;
      }
    } else if (message.type === 'suite') {
      projects = message.projects;
    } else if (message.type === 'error') {
      loadErrors++;
    } else if (message.type === 'listed') {
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
    const chosen = choose(select, listed, start.grepTimeoutMs ?? 10_000);
    const own = listed.filter(({ wire }) => chosen.has(wire.id) && !wire.setup).map(({ wire }) => wire.project);
    const along = projectsAlong(projects, new Set(own));
    const reason = brokenSetup(along, broken);
    if (reason)
      return session.fail('bad-config', reason);
    const orphans = select.all ? [] : orphanSetup(chosen, listed, project => along.has(project));
    session.listedBefore = listed;
    session.mode = 'only';
    session.start.only = {
      ids: [...chosen],
      all: select.all,
      projects: orphans.length ? [...new Set(listed.filter(({ wire }) => chosen.has(wire.id)).map(({ wire }) => wire.project))] : undefined,
      loadErrors,
      record: select.record,
    };
  } catch (error) {
    session.fail(problemCode(error), (error as Error).message);
  }
}

function isSocket(fd: number): boolean {
  try {
    return fs.fstatSync(fd).isSocket();
  } catch {
    return false;
  }
}

main();
