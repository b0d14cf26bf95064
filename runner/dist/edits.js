"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.makeEdits = makeEdits;
exports.each = each;
exports.carryOut = carryOut;
// Makes a trial's edits before anything of the tests is loaded, and says what became of each. Either all are made, or
// none is.
const fs = require("fs");
const path = require("path");
const diff_1 = require("./diff");
const edit_1 = require("./edit");
const lint_1 = require("./lint");
const source_1 = require("./source");
/** Places of all orders are those of the source as it is; the same edit ordered twice is one. */
function makeEdits(playwright, root, orders) {
    const sources = new source_1.Sources(playwright, root);
    const files = new Map();
    const edits = each(orders, order => {
        const found = (0, edit_1.place)(sources, root, order);
        const { file, line, column, before, after } = found;
        // A link is not what is written to.
        const real = path.relative(fs.realpathSync(root), fs.realpathSync(found.source.file)).split(path.sep).join('/');
        if (!fs.readFileSync(path.join(root, real)).equals(Buffer.from(found.source.text)))
            throw new source_1.NotFound('no-source', `${real} is not UTF-8`);
        const others = files.get(real) ?? [];
        const same = others.some(other => other.start === found.start && other.end === found.end && other.after === after);
        const other = others.find(other => found.start < other.end && other.start < found.end);
        if (!same && other)
            throw new source_1.NotFound('ambiguous', `another edit writes ${other.after} there`);
        if (!same)
            files.set(real, [...others, found]);
        return { file: real || file, line, column, before, after };
    });
    const texts = new Map();
    for (const [file, places] of files)
        texts.set(file, { text: places[0].source.text, changes: places.filter(place => place.before !== place.after).sort((a, b) => a.start - b.start) });
    return carryOut(playwright, root, edits, texts);
}
/** What becomes of each order. */
function each(orders, make) {
    return orders.map(order => {
        try {
            return make(order);
        }
        catch (error) {
            return { code: error instanceof source_1.NotFound ? error.code : 'failed', why: error.message };
        }
    });
}
/** Writes files anew, by their paths from the root, if every edit can be made and none does what a repair must not; `free` as for lint. */
function carryOut(playwright, root, edits, files, free = false) {
    const failed = edits.find(edit => edit.code);
    if (failed)
        return { edits, patch: '', offences: [], problem: `an edit could not be made: ${failed.why}` };
    let patch = '';
    const offences = [];
    const written = new Map();
    for (const [file, { text, changes }] of [...files].sort(([a], [b]) => a < b ? -1 : 1)) {
        patch += (0, diff_1.unified)(file, text, changes);
        const after = (0, diff_1.changed)(text, changes);
        written.set(file, after);
        const line = changes.length ? text.slice(0, changes[0].start).split('\n').length : 1;
        offences.push(...(0, lint_1.lint)(playwright, text, after, free).map(({ rule, message }) => ({ rule, file, line, message })));
    }
    if (offences.length)
        return { edits, patch, offences, problem: `the edits do what a repair must not: ${offences[0].message}` };
    for (const [file, text] of written)
        fs.writeFileSync(path.join(root, file), text);
    return { edits, patch, offences };
}
