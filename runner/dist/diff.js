"use strict";
// Writes changes of a text as a unified diff that git takes.
Object.defineProperty(exports, "__esModule", { value: true });
exports.changed = changed;
exports.unified = unified;
const context = 3;
/** The text with the changes, which are in order and do not overlap. */
function changed(text, changes) {
    let out = '', at = 0;
    for (const { start, end, after } of changes) {
        out += text.slice(at, start) + after;
        at = end;
    }
    return out + text.slice(at);
}
/** The changes of one file; '' for none. They are in order and do not overlap. */
function unified(name, text, changes) {
    if (!changes.length)
        return '';
    const lines = text.split('\n');
    const starts = [0];
    for (const line of lines)
        starts.push(starts[starts.length - 1] + line.length + 1);
    const lineOf = (at) => {
        let low = 0;
        for (let high = lines.length - 1; low < high;) {
            const middle = (low + high + 1) >> 1;
            if (starts[middle] <= at)
                low = middle;
            else
                high = middle - 1;
        }
        return low;
    };
    const blocks = [];
    for (const change of changes) {
        const from = lineOf(change.start), to = lineOf(change.end), last = blocks[blocks.length - 1];
        if (last && from <= last.to) {
            last.to = Math.max(last.to, to);
            last.changes.push(change);
        }
        else {
            blocks.push({ from, to, changes: [change] });
        }
    }
    let out = `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n`;
    let more = 0;
    for (let i = 0; i < blocks.length;) {
        const hunk = [blocks[i++]];
        while (i < blocks.length && blocks[i].from - hunk[hunk.length - 1].to <= 2 * context)
            hunk.push(blocks[i++]);
        const first = Math.max(0, hunk[0].from - context), last = Math.min(lines.length - 1, hunk[hunk.length - 1].to + context);
        const written = [];
        // What follows the last line break is no line; a last line without one says so.
        const put = (sign, line, end) => {
            if (!end || line !== '')
                written.push(sign + line + (end ? '\n\\ No newline at end of file' : ''));
        };
        let at = first;
        const upTo = (next) => {
            for (; at < next; at++)
                put(' ', lines[at], at === lines.length - 1);
        };
        for (const { from, to, changes } of hunk) {
            upTo(from);
            for (; at <= to; at++)
                put('-', lines[at], at === lines.length - 1);
            const base = starts[from];
            const now = changed(text.slice(base, starts[to + 1] - 1), changes.map(c => ({ start: c.start - base, end: c.end - base, after: c.after }))).split('\n');
            now.forEach((line, j) => put('+', line, to === lines.length - 1 && j === now.length - 1));
        }
        upTo(last + 1);
        const count = (signs) => written.filter(line => signs.includes(line[0])).length;
        const [old, young] = [count(' -'), count(' +')];
        out += `@@ -${first + 1},${old} +${first + 1 + more},${young} @@\n${written.join('\n')}\n`;
        more += young - old;
    }
    return out;
}
