"use strict";
// An address without what differs from one run to the next: the rule by which the service reads traces
// (internal/evidence, template). Both are held to internal/evidence/testdata/templates.json.
Object.defineProperty(exports, "__esModule", { value: true });
exports.template = template;
const changing = /^(?:\d+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27,}|[0-9a-fA-F]{16,}|[A-Za-z0-9_-]*\d[A-Za-z0-9_-]{19,}|\d{4}-\d{2}-\d{2})$/;
const maxText = 200;
/** Host and path, numbers and IDs as {}, of the query only the names, sorted; undefined for what is no address of a server. */
function template(address) {
    const match = /^https?:\/\/([^/?#]+)([^?#]*)(?:\?([^#]*))?/i.exec(address);
    if (!match)
        return undefined;
    let host = match[1].slice(match[1].lastIndexOf('@') + 1).toLowerCase();
    const name = host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
    if (!host || host.includes('%'))
        return undefined;
    if (name === 'localhost' || name.startsWith('127.') || name === '::1')
        host = 'loopback';
    const path = decoded(match[2]);
    if (path === undefined)
        return undefined;
    let out = host + path.split('/').map(part => changing.test(part) ? '{}' : part).join('/');
    const names = new Set();
    for (const pair of (match[3] ?? '').split('&')) {
        const name = decoded(pair.split('=', 1)[0].replaceAll('+', ' '));
        if (pair && name !== undefined && decoded(pair) !== undefined && !pair.includes(';'))
            names.add(name);
    }
    if (names.size)
        out += '?' + [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).join('&');
    return [...out].slice(0, maxText).join('');
}
function decoded(text) {
    try {
        return decodeURIComponent(text);
    }
    catch {
        return undefined;
    }
}
