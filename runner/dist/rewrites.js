"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.makeRewrites = makeRewrites;
// Makes a trial's rewrites before anything of the tests is loaded: exact pieces of text that a model wants to have
// replaced. What it wants is a stranger's wish, so it is held to the rules of repairs as every edit is, and to files of
// the tests themselves. Either all are made, or none is.
const fs = require("fs");
const path = require("path");
const diff_1 = require("./diff");
const edits_1 = require("./edits");
const source_1 = require("./source");
/** Source of tests: no dot begins any part of its path. */
const source = /^(?:[^./\\][^/\\]*\/)*[^./\\][^/\\]*\.[cm]?[jt]sx?$/;
/** What says how tests run, and not what they do. */
const configuration = /(?:^|[.-])config\.[cm]?[jt]sx?$/i;
/** Each rewrite is made on what the ones before it left behind. */
function makeRewrites(playwright, root, orders) {
    const files = new Map();
    const edits = (0, edits_1.each)(orders, ({ file, before, after }) => {
        const texts = files.get(file) ?? open(root, file);
        const at = texts.now.indexOf(before);
        if (!before || at < 0)
            throw new source_1.NotFound('no-segment', `${file} does not have the text that is to be replaced`);
        if (texts.now.indexOf(before, at + 1) >= 0)
            throw new source_1.NotFound('ambiguous', `${file} has the text that is to be replaced more than once`);
        files.set(file, { was: texts.was, now: texts.now.slice(0, at) + after + texts.now.slice(at + before.length) });
        return { file, line: texts.now.slice(0, at).split('\n').length, column: at - texts.now.lastIndexOf('\n', at - 1), before, after };
    });
    const texts = new Map();
    for (const [file, { was, now }] of files)
        texts.set(file, { text: was, changes: (0, diff_1.differences)(was, now) });
    return (0, edits_1.carryOut)(playwright, root, edits, texts, true);
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
