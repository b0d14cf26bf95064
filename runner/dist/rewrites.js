"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.makeRewrites = makeRewrites;
// Makes a trial's rewrites before anything of the tests is loaded: exact pieces of text that a model wants to have
// replaced. What it wants is a stranger's wish, so it is held to the rules of repairs as every edit is, and to files of
// the tests themselves. Either all are made, or none is.
const fs = require("fs");
const path = require("path");
const diff_1 = require("./diff");
const lint_1 = require("./lint");
const source_1 = require("./source");
/** Source of tests: no dot begins any part of its path. */
const source = /^(?:[^./\\][^/\\]*\/)*[^./\\][^/\\]*\.[cm]?[jt]sx?$/;
/** What says how tests run, and not what they do. */
const configuration = /(?:^|[.-])config\.[cm]?[jt]sx?$/i;
/** Each rewrite is made on what the ones before it left behind. */
function makeRewrites(playwright, root, orders) {
    const files = new Map();
    const edits = orders.map((order) => {
        try {
            const { file, before, after } = order;
            const texts = files.get(file) ?? open(root, file);
            const at = texts.now.indexOf(before);
            if (!before || at < 0)
                throw new source_1.NotFound('no-segment', `${file} does not have the text that is to be replaced`);
            if (texts.now.indexOf(before, at + 1) >= 0)
                throw new source_1.NotFound('ambiguous', `${file} has the text that is to be replaced more than once`);
            files.set(file, { was: texts.was, now: texts.now.slice(0, at) + after + texts.now.slice(at + before.length) });
            return { file, line: texts.now.slice(0, at).split('\n').length, column: at - texts.now.lastIndexOf('\n', at - 1), before, after };
        }
        catch (error) {
            return { code: error instanceof source_1.NotFound ? error.code : 'failed', why: error.message };
        }
    });
    const failed = edits.find(edit => edit.code);
    if (failed)
        return { edits, patch: '', offences: [], problem: `an edit could not be made: ${failed.why}` };
    let patch = '';
    const offences = [];
    for (const [file, { was, now }] of [...files].sort(([a], [b]) => a < b ? -1 : 1)) {
        const changes = (0, diff_1.differences)(was, now);
        patch += (0, diff_1.unified)(file, was, changes);
        const line = changes.length ? was.slice(0, changes[0].start).split('\n').length : 1;
        offences.push(...(0, lint_1.lint)(playwright, was, now, true).map(({ rule, message }) => ({ rule, file, line, message })));
    }
    if (offences.length)
        return { edits, patch, offences, problem: `the edits do what a repair must not: ${offences[0].message}` };
    for (const [file, { now }] of files)
        fs.writeFileSync(path.join(root, file), now);
    return { edits, patch, offences };
}
function open(root, file) {
    if (typeof file !== 'string' || !source.test(file) || file.split('/').includes('node_modules') || configuration.test(file))
        throw new source_1.NotFound('no-source', `${file} is no source of tests`);
    const top = fs.realpathSync(root), at = path.join(top, file);
    let real;
    try {
        real = fs.realpathSync(at);
    }
    catch {
        // It is not there.
    }
    // A link is not what is written to.
    if (real !== at || !fs.lstatSync(at).isFile())
        throw new source_1.NotFound('no-source', `${file} is not there`);
    const bytes = fs.readFileSync(at), text = bytes.toString('utf8');
    if (!bytes.equals(Buffer.from(text)))
        throw new source_1.NotFound('no-source', `${file} is not UTF-8`);
    return { was: text, now: text };
}
