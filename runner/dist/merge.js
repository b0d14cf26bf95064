"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.MergeProblem = void 0;
exports.mergeBlobs = mergeBlobs;
// Makes one HTML report out of the blobs of several processes, with the merge of the repository's own Playwright. It
// gets blobs that were put in order first: with the events alone, one root for all, no test twice that passed twice, and
// attachments that this file has unpacked, a piece at a time and under names that stay in their folder.
const child_process_1 = require("child_process");
const fs = require("fs");
const path = require("path");
const promises_1 = require("stream/promises");
const blob_1 = require("./blob");
const run_1 = require("./run");
const lost_1 = require("./lost");
const zip_1 = require("./zip");
const resource = /^resources\/[\w-][\w.-]*$/;
/** Measured: see docs/decisions/2026-11-21-live-queue.md. A child that needs more is told apart by its last words. */
const defaultMemoryMb = 2048;
class MergeProblem extends Error {
}
exports.MergeProblem = MergeProblem;
async function mergeBlobs(session, playwright) {
    const { start, channel } = session;
    const { blobs, results, memoryMb } = start.merge;
    const folder = path.join(start.outDir, 'merge');
    try {
        await fs.promises.rm(folder, { recursive: true, force: true });
        await fs.promises.mkdir(path.join(folder, 'resources'), { recursive: true });
        const merge = new Merge(folder);
        const skipped = [];
        const reasons = [];
        for (const blob of blobs) {
            try {
                await merge.add(blob);
            }
            catch (error) {
                skipped.push(blob);
                reasons.push(`${blob}: ${error.message}`);
                channel.send({ type: 'error', message: `the report of one process is left out, ${reasons.at(-1)}` });
            }
        }
        if (results)
            await merge.addLost(results, message => channel.send({ type: 'error', message }));
        if (!merge.count)
            throw new MergeProblem(reasons.length ? `none of the reports can be read: ${reasons.join('; ')}` : 'there is no report to merge');
        await runMerge(session, playwright, folder, memoryMb ?? defaultMemoryMb);
        session.ended = true;
        channel.send({ type: 'merged', total: merge.tests, blobs: blobs.length - skipped.length, skipped });
        channel.send({ type: 'bye' });
    }
    catch (error) {
        session.fail('merge', error.message);
        return;
    }
    finally {
        await fs.promises.rm(folder, { recursive: true, force: true }).catch(() => { });
    }
    await channel.drain();
    process.exit(0);
}
class Merge {
    folder;
    count = 0;
    tests = 0;
    rootDir;
    version = '';
    /** The files of all tests, as the blobs call them: relative to the root. */
    files = new Set();
    seen = new Map();
    constructor(folder) {
        this.folder = folder;
    }
    async add(blob) {
        const zip = await zip_1.Zip.open(blob);
        const target = this.target();
        try {
            const events = zip.entry(blob_1.eventsName);
            if (!events)
                throw new Error(`it has no ${blob_1.eventsName}`);
            const ran = await outcomes(zip, events);
            const drop = new Set([...ran].filter(([id, good]) => good && this.seen.get(id)).map(([id]) => id));
            await (0, zip_1.writeZip)(target, blob_1.eventsName, this.rewritten(zip, events, ran, drop));
            for (const entry of zip.entries) {
                if (resource.test(entry.name))
                    await (0, promises_1.pipeline)(zip.read(entry), fs.createWriteStream(path.join(this.folder, entry.name)));
            }
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
    async addLost(file, onProblem) {
        const tests = [];
        for await (const test of (0, lost_1.lostTests)(file, onProblem))
            tests.push(test);
        if (!tests.length)
            return;
        this.rootDir ??= process.cwd();
        const ran = new Map(tests.map(test => [test.id, test.tries.every(({ status }) => isGood(status))]));
        const drop = new Set([...ran].filter(([id, good]) => good && this.seen.get(id)).map(([id]) => id));
        await (0, zip_1.writeZip)(this.target(), blob_1.eventsName, (0, lost_1.lostEvents)(tests.filter(test => !drop.has(test.id)), this.rootDir, this.version, this.files));
        this.took(ran, drop);
    }
    target() {
        return path.join(this.folder, `report-${String(this.count).padStart(5, '0')}.zip`);
    }
    took(ran, drop) {
        this.count++;
        this.tests += ran.size - drop.size;
        for (const [id, good] of ran)
            this.seen.set(id, good && (this.seen.get(id) ?? true));
    }
    async *rewritten(zip, events, ran, drop) {
        for await (const line of zip.lines(events)) {
            const method = (0, blob_1.methodOf)(line);
            if (method === 'onConfigure')
                yield this.configure(line, await filesOf(zip, events));
            else if (method === 'onProject')
                yield (0, blob_1.withoutTests)(line, id => ran.has(id) && !drop.has(id));
            else if (!drop.size || !drop.has(testOf(line) ?? ''))
                yield method === 'onAttach' || method === 'onTestEnd' ? withSafePaths(line) : line;
        }
    }
    /** Machines keep the repository in different folders; the report is made where this process runs. */
    configure(line, files) {
        const event = JSON.parse(line);
        const { config } = event.params;
        files.forEach(file => this.files.add(file));
        this.version ||= config.version;
        this.rootDir ??= localRoot(String(config.rootDir), files);
        config.rootDir = this.rootDir;
        return JSON.stringify(event);
    }
}
/** Which tests have results, and whether all of them are good. */
async function outcomes(zip, events) {
    const ran = new Map();
    let first = true;
    for await (const line of zip.lines(events)) {
        const method = (0, blob_1.methodOf)(line);
        if (first && method !== 'onBlobReportMetadata')
            throw new Error('it is no report of Playwright');
        first = false;
        if (method === 'onTestBegin') {
            const { testId } = JSON.parse(line).params;
            ran.set(testId, ran.get(testId) ?? true);
        }
        else if (method === 'onTestEnd') {
            const { test, result } = JSON.parse(line).params;
            if (!isGood(result.status))
                ran.set(test.testId, false);
        }
    }
    if (first)
        throw new Error('it has no events');
    return ran;
}
function isGood(status) {
    return status === 'passed' || status === 'skipped';
}
async function filesOf(zip, events) {
    const files = [];
    for await (const line of zip.lines(events)) {
        if ((0, blob_1.methodOf)(line) === 'onProject')
            files.push(...JSON.parse(line).params.project.suites.map((suite) => String(suite.location?.file ?? suite.title)));
    }
    return [...new Set(files)];
}
/** The folder here that was `rootDir` where the blob was recorded: snippets in the report are read from it. */
function localRoot(rootDir, files) {
    const parts = rootDir.split('/').filter(Boolean);
    for (let from = 0; from <= parts.length && files.length; from++) {
        const candidate = path.join(process.cwd(), ...parts.slice(from));
        if (fs.existsSync(path.join(candidate, files[0])))
            return candidate;
    }
    return rootDir;
}
function testOf(line) {
    const match = /^\{"method":"\w+","params":\{(?:"test":\{)?"testId":"([^"\\]*)"/.exec(line);
    if (match)
        return match[1];
    const { params } = JSON.parse(line);
    return params?.testId ?? params?.test?.testId;
}
/** An attachment is a file of the blob, whatever the blob says. */
function withSafePaths(line) {
    if (!line.includes('"path"'))
        return line;
    const event = JSON.parse(line);
    for (const attachment of event.params.attachments ?? event.params.result?.attachments ?? []) {
        if (attachment.path && !resource.test(attachment.path))
            delete attachment.path;
    }
    return JSON.stringify(event);
}
async function runMerge(session, playwright, folder, memoryMb) {
    const env = { ...process.env, ...(0, run_1.reportEnvironment)(session.start.outDir) };
    (0, run_1.unsetReportVariables)(env);
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
    if (session.aborted)
        throw new MergeProblem('aborted');
    if (/heap out of memory|Allocation failed/.test(words))
        throw new MergeProblem(`Playwright's merge needs more than ${memoryMb} MB of memory for this run`);
    if (code !== 0)
        throw new MergeProblem(`Playwright's merge ended with ${code}: ${words.trim().slice(-2000)}`);
    if (!fs.existsSync(path.join(session.start.outDir, 'html', 'index.html')))
        throw new MergeProblem(`Playwright's merge wrote no report: ${words.trim().slice(-2000)}`);
}
