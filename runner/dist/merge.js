"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.mergeBlobs = mergeBlobs;
// Makes one HTML report out of the blobs of several processes, with the merge of the repository's own Playwright. It
// gets blobs that were put in order first: with the events alone, one root for all, no test twice that passed twice, and
// attachments that this file has unpacked, a piece at a time and under names that stay in their folder. Nothing that a
// blob says is believed: tests can have written into it.
const child_process_1 = require("child_process");
const fs = require("fs");
const path = require("path");
const promises_1 = require("stream/promises");
const blob_1 = require("./blob");
const run_1 = require("./run");
const lost_1 = require("./lost");
const zip_1 = require("./zip");
const resource = /^resources\/[\w-][\w.-]*$/;
/** Playwright reads an attachment into one buffer: a larger one has no place in its report. */
const largestAttachment = 2 ** 31 - 1;
/** Measured: see docs/decisions/2026-11-21-live-queue.md. A child that needs more is told apart by its last words. */
const defaultMemoryMb = 2048;
class MergeProblem extends Error {
}
/** Playwright's own merge failed, perhaps because of a single blob. */
class Stumbled extends MergeProblem {
}
async function mergeBlobs(session, playwright) {
    const { start, channel } = session;
    const { blobs, results, memoryMb = defaultMemoryMb } = start.merge;
    const folder = path.join(start.outDir, 'merge');
    const skipped = new Map();
    const told = new Set();
    const tell = (message) => {
        if (!told.has(message))
            channel.send({ type: 'error', message });
        told.add(message);
    };
    const skip = (blob, error) => {
        if (error instanceof MergeProblem && !(error instanceof Stumbled))
            throw error;
        const { message } = error;
        skipped.set(blob, message);
        tell(`the report of one process is left out, ${blob}: ${message}`);
    };
    let problem;
    const build = (from, outDir) => runMerge(session, playwright, from, outDir, memoryMb);
    try {
        const contents = [];
        for (const blob of blobs) {
            goOn(session);
            await contentsOf(blob, memoryMb).then(found => contents.push(found), error => skip(blob, error));
        }
        const lost = results ? await (0, lost_1.lostTests)(results, tell) : [];
        for (;;) {
            const merge = new Merge(folder, contents.filter(({ blob }) => !skipped.has(blob)), session, tell);
            await merge.write(lost, skip);
            if (!merge.count)
                throw new MergeProblem(skipped.size ? `none of the reports can be read: ${[...skipped].map(([blob, reason]) => `${blob}: ${reason}`).join('; ')}` : 'there is no report to merge');
            const before = skipped.size;
            try {
                await build(folder, start.outDir);
                channel.send({ type: 'merged', total: merge.tests, blobs: blobs.length - skipped.size, skipped: [...skipped.keys()] });
                break;
            }
            catch (error) {
                if (!(error instanceof Stumbled))
                    throw error;
                await merge.skipCulprits(build, skip);
                if (skipped.size === before)
                    throw error;
            }
        }
    }
    catch (error) {
        problem = error;
    }
    await fs.promises.rm(folder, { recursive: true, force: true }).catch(() => { });
    if (problem)
        return session.fail('merge', problem.message);
    session.ended = true;
    channel.send({ type: 'bye' });
    await channel.drain();
    process.exit(0);
}
class Merge {
    folder;
    contents;
    session;
    tell;
    /** Reports that Playwright will find, and the tests in them. */
    count = 0;
    tests = 0;
    written = [];
    rootDir;
    seen = new Map();
    unpacked = new Set();
    room = 0;
    constructor(folder, contents, session, tell) {
        this.folder = folder;
        this.contents = contents;
        this.session = session;
        this.tell = tell;
        this.rootDir = localRoot(contents);
    }
    async write(lost, skip) {
        await fs.promises.rm(this.folder, { recursive: true, force: true });
        await fs.promises.mkdir(path.join(this.folder, 'resources'), { recursive: true });
        const { bavail, bsize } = await fs.promises.statfs(this.folder);
        this.room = bavail * bsize / 2; // the report has them once more
        for (const contents of this.contents)
            await this.add(contents).catch(error => skip(contents.blob, error));
        const version = this.contents.find(({ version }) => version)?.version ?? '';
        const files = new Set(this.contents.flatMap(contents => contents.files));
        for (const tests of (0, lost_1.layersOf)(lost)) {
            const ran = new Map(tests.map(test => [test.id, test.tries.every(({ status }) => isGood(status))]));
            const drop = this.seenGood(ran);
            await (0, zip_1.writeZip)(this.target(), blob_1.eventsName, (0, lost_1.lostEvents)(tests.filter(test => !drop.has(test.id)), this.rootDir, version, files));
            this.took(ran, drop);
        }
    }
    /** Playwright cannot merge these reports together: leaves out each that it cannot read on its own. */
    async skipCulprits(build, skip) {
        const alone = path.join(this.folder, 'alone');
        for (const { blob, file } of this.written) {
            await fs.promises.rm(alone, { recursive: true, force: true });
            await fs.promises.mkdir(alone);
            await fs.promises.link(file, path.join(alone, 'report.zip'));
            await build(alone, alone).catch(error => skip(blob, error));
        }
    }
    async add(contents) {
        goOn(this.session);
        const { blob, ran } = contents;
        const zip = await zip_1.Zip.open(blob);
        const target = this.target();
        try {
            for (const entry of zip.entries) {
                goOn(this.session);
                if (resource.test(entry.name) && !this.unpacked.has(entry.name))
                    await this.unpack(zip, entry).catch(error => this.tell(`an attachment is left out, ${entry.name} of ${blob}: ${error.message}`));
            }
            const drop = this.seenGood(ran);
            await (0, zip_1.writeZip)(target, blob_1.eventsName, this.rewritten(zip, contents, drop));
            this.written.push({ blob, file: target });
            this.took(ran, drop);
        }
        catch (error) {
            await fs.promises.rm(target, { force: true });
            throw error;
        }
        finally {
            await zip.close();
        }
    }
    async unpack(zip, entry) {
        if (entry.size > largestAttachment)
            throw new Error('it is larger than 2 GB');
        if (entry.size > this.room)
            throw new Error('the disk has no room for it');
        const file = path.join(this.folder, entry.name);
        try {
            await (0, promises_1.pipeline)(zip.read(entry), fs.createWriteStream(file));
        }
        catch (error) {
            await fs.promises.rm(file, { force: true });
            throw error;
        }
        this.unpacked.add(entry.name);
        this.room -= entry.size;
    }
    target() {
        return path.join(this.folder, `report-${String(this.count).padStart(5, '0')}.zip`);
    }
    /** Those that were good here and in all reports before. */
    seenGood(ran) {
        return new Set([...ran].filter(([id, good]) => good && this.seen.get(id)).map(([id]) => id));
    }
    took(ran, drop) {
        this.count++;
        this.tests += ran.size - drop.size;
        for (const [id, good] of ran)
            this.seen.set(id, good && (this.seen.get(id) ?? true));
    }
    async *rewritten(zip, { ran, rootDir }, drop) {
        const there = checkoutOf(rootDir, this.rootDir);
        for await (const line of zip.lines(zip.entry(blob_1.eventsName))) {
            const { method, params } = eventOf(line);
            if (method === 'onConfigure') {
                // Machines keep the repository in different folders; the report is made where this process runs.
                params.config.rootDir = this.rootDir;
                yield JSON.stringify({ method, params });
            }
            else if (method === 'onProject') {
                yield (0, blob_1.withoutTests)(line, id => ran.has(id) && !drop.has(id));
            }
            else if (!drop.has(params.testId ?? params.test?.testId)) {
                const attachments = method === 'onAttach' ? params.attachments : method === 'onTestEnd' ? params.result.attachments : undefined;
                attachments?.forEach((attachment) => this.makeSafe(attachment));
                const errors = method === 'onTestEnd' ? params.result.errors : undefined;
                errors?.forEach((error) => placeHere(error, there));
                yield attachments?.length || errors?.length ? JSON.stringify({ method, params }) : line;
            }
        }
    }
    /** An attachment is a file of a blob, whatever the blob says. */
    makeSafe(attachment) {
        if (attachment.path === undefined || (typeof attachment.path === 'string' && this.unpacked.has(attachment.path)))
            return;
        delete attachment.path;
        attachment.name = `${attachment.name} (missing)`;
        attachment.contentType = 'text/plain';
        attachment.base64 = Buffer.from('The report of the process that ran this test does not have this attachment, or it is damaged.').toString('base64');
    }
}
async function contentsOf(blob, memoryMb) {
    const contents = { blob, ran: new Map(), rootDir: '', version: '', files: [] };
    const { ran, files } = contents;
    const zip = await zip_1.Zip.open(blob);
    try {
        const events = zip.entry(blob_1.eventsName);
        if (!events)
            throw new Error(`it has no ${blob_1.eventsName}`);
        if (events.size > memoryMb * 1024 * 1024)
            throw new Error(`its ${blob_1.eventsName} is larger than the ${memoryMb} MB of memory for the merge`);
        let first = true;
        for await (const line of zip.lines(events)) {
            const { method, params } = eventOf(line);
            if (first && method !== 'onBlobReportMetadata')
                throw new Error('it is no report of Playwright');
            first = false;
            if (method === 'onConfigure')
                Object.assign(contents, { rootDir: String(params.config.rootDir), version: String(params.config.version) });
            else if (method === 'onProject')
                files.push(...params.project.suites.map((suite) => String(suite.location?.file ?? suite.title)));
            else if (method === 'onTestBegin')
                ran.set(params.testId, ran.get(params.testId) ?? true);
            else if (method === 'onTestEnd' && !isGood(params.result.status))
                ran.set(params.test.testId, false);
        }
        if (first)
            throw new Error('it has no events');
    }
    finally {
        await zip.close();
    }
    return contents;
}
/** Read as Playwright reads it: a key may be there twice, or be written in another way. */
function eventOf(line) {
    const event = JSON.parse(line);
    if (typeof event?.method !== 'string')
        throw new Error('a line of it is no event');
    return { method: event.method, params: event.params ?? {} };
}
function isGood(status) {
    return status === 'passed' || status === 'skipped';
}
/** The folder here that was the root of the tests where the blobs were recorded: snippets in the report are read from it. */
function localRoot(contents) {
    for (const { rootDir, files } of contents) {
        const parts = rootDir.split('/').filter(Boolean);
        for (let from = 0; from <= parts.length; from++) {
            const candidate = path.join(process.cwd(), ...parts.slice(from));
            if (files.some(file => fs.existsSync(path.join(candidate, file))))
                return candidate;
        }
    }
    return contents.find(({ rootDir }) => rootDir)?.rootDir ?? process.cwd();
}
/** The folder that was this working directory where a blob was recorded, by the roots of the tests there and here. */
function checkoutOf(rootDir, here) {
    const below = path.relative(process.cwd(), here);
    return !below ? rootDir : rootDir.endsWith('/' + below) ? rootDir.slice(0, -below.length - 1) : process.cwd();
}
/** The report quotes the files that errors name, by their whole paths. */
function placeHere(error, there) {
    const file = error.location?.file;
    if (typeof file === 'string' && file.startsWith(there + '/'))
        error.location.file = path.join(process.cwd(), file.slice(there.length));
}
function goOn(session) {
    if (session.aborted)
        throw new MergeProblem('aborted');
}
async function runMerge(session, playwright, folder, outDir, memoryMb) {
    goOn(session);
    const env = { ...process.env, ...(0, run_1.reportEnvironment)(outDir) };
    (0, run_1.unsetReportVariables)(env);
    const page = path.join(outDir, 'html', 'index.html');
    await fs.promises.rm(page, { force: true });
    const child = (0, child_process_1.spawn)(process.execPath, [`--max-old-space-size=${memoryMb}`, playwright.cli, 'merge-reports', '--reporter=html', folder], {
        env, stdio: ['ignore', 'pipe', 'pipe'],
    });
    session.stopChild = () => child.kill('SIGKILL');
    let words = '';
    for (const stream of [child.stdout, child.stderr])
        stream.on('data', chunk => words = (words + chunk).slice(-8000));
    const code = await new Promise(resolve => {
        child.once('error', error => resolve(error.message));
        child.once('close', (code, signal) => resolve(code ?? signal));
    });
    goOn(session);
    if (/heap out of memory|Allocation failed/.test(words))
        throw new MergeProblem(`Playwright's merge needs more than ${memoryMb} MB of memory for this run`);
    if (code !== 0)
        throw new Stumbled(`Playwright's merge ended with ${code}: ${words.trim().slice(-2000)}`);
    if (!fs.existsSync(page))
        throw new Stumbled(`Playwright's merge wrote no report: ${words.trim().slice(-2000)}`);
}
