"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.makeEdits = makeEdits;
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
    const edits = orders.map((order) => {
        try {
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
    const written = new Map();
    for (const [file, places] of [...files].sort(([a], [b]) => a < b ? -1 : 1)) {
        const changes = places.filter(place => place.before !== place.after).sort((a, b) => a.start - b.start);
        const { text } = places[0].source;
        patch += (0, diff_1.unified)(file, text, changes);
        const after = (0, diff_1.changed)(text, changes);
        written.set(file, after);
        offences.push(...(0, lint_1.lint)(playwright, text, after).map(({ rule, message }) => ({ rule, file, line: changes[0]?.line ?? 1, message })));
    }
    if (offences.length)
        return { edits, patch, offences, problem: `the edits do what a repair must not: ${offences[0].message}` };
    for (const [file, text] of written)
        fs.writeFileSync(path.join(root, file), text);
    return { edits, patch, offences };
}
