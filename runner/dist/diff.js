"use strict";
// Writes changes of a text as a unified diff that git takes.
Object.defineProperty(exports, "__esModule", { value: true });
exports.changed = changed;
exports.differences = differences;
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
/** So many pairs of lines are compared at most; beyond that all between the first and the last difference is one change. */
const maxPairs = 4_000_000;
/** The changes that make one text of another, in whole lines. */
function differences(before, after) {
    const cut = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
    const a = cut(before), b = cut(after);
    let first = 0, rest = 0;
    while (first < a.length && first < b.length && a[first] === b[first])
        first++;
    while (rest < a.length - first && rest < b.length - first && a[a.length - 1 - rest] === b[b.length - 1 - rest])
        rest++;
    const starts = [0];
    for (const line of a)
        starts.push(starts[starts.length - 1] + line.length);
    const change = (from, to, of, upTo) => ({ start: starts[from], end: starts[to], after: b.slice(of, upTo).join('') });
    const n = a.length - rest - first, m = b.length - rest - first;
    if (!n && !m)
        return [];
    if (!n || !m || n * m > maxPairs)
        return [change(first, first + n, first, first + m)];
    // How many lines the rests of both have in common, at most.
    const common = Array.from({ length: n + 1 }, () => new Uint32Array(m + 1));
    for (let i = n - 1; i >= 0; i--) {
        for (let j = m - 1; j >= 0; j--)
            common[i][j] = a[first + i] === b[first + j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
    const out = [];
    for (let i = 0, j = 0; i < n || j < m;) {
        if (i < n && j < m && a[first + i] === b[first + j]) {
            i++, j++;
            continue;
        }
        const from = i, of = j;
        while ((i < n || j < m) && !(i < n && j < m && a[first + i] === b[first + j])) {
            if (j >= m || i < n && common[i + 1][j] >= common[i][j + 1])
                i++;
            else
                j++;
        }
        out.push(change(first + from, first + i, first + of, first + j));
    }
    return out;
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
            const base = starts[from];
            const now = changed(text.slice(base, starts[to + 1] - 1), changes.map(c => ({ start: c.start - base, end: c.end - base, after: c.after }))).split('\n');
            const ends = (j) => to === lines.length - 1 && j === now.length - 1;
            // A change may begin or end with lines that stay.
            let lead = 0, rest = 0;
            while (at < to && lead < now.length - 1 && lines[at] === now[lead]) {
                upTo(at + 1);
                lead++;
            }
            while (to - rest >= at && now.length - rest > lead && lines[to - rest] === now[now.length - 1 - rest])
                rest++;
            for (; at <= to - rest; at++)
                put('-', lines[at], at === lines.length - 1);
            for (let j = lead; j < now.length - rest; j++)
                put('+', now[j], ends(j));
            upTo(to + 1);
        }
        upTo(last + 1);
        const count = (signs) => written.filter(line => signs.includes(line[0])).length;
        const [old, young] = [count(' -'), count(' +')];
        out += `@@ -${first + 1},${old} +${first + 1 + more},${young} @@\n${written.join('\n')}\n`;
        more += young - old;
    }
    return out;
}
