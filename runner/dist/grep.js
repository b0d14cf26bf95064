"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.GrepProblem = void 0;
exports.parsePattern = parsePattern;
exports.matchAll = matchAll;
// Matches a pattern as `playwright test --grep` does, but under a limit of time: the pattern comes over an API, and a
// catastrophic one must not hold a worker for hours.
const vm = require("vm");
class GrepProblem extends Error {
    code;
    constructor(code, message) {
        super(message);
        this.code = code;
    }
}
exports.GrepProblem = GrepProblem;
/** Playwright's own reading of a pattern: `/source/flags`, or anything else as a source without regard to case. */
function parsePattern(pattern) {
    const match = /^\/(.*)\/([gi]*)$/.exec(pattern);
    try {
        return match ? new RegExp(match[1], match[2]) : new RegExp(pattern, 'gi');
    }
    catch (error) {
        throw new GrepProblem('grep-invalid', `the pattern is no regular expression: ${error.message}`);
    }
}
/** For each list of texts: does the pattern match one of them? */
function matchAll(pattern, texts, limitMs) {
    const literals = literalAlternatives(pattern);
    if (literals)
        return texts.map(list => list.some(text => literals.matches(text)));
    const re = parsePattern(pattern);
    const result = [];
    // With the g flag a RegExp remembers where it stopped: lastIndex goes back before each text.
    const script = 'for (const list of texts) result.push(list.some(text => (re.lastIndex = 0, re.test(text))))';
    try {
        vm.runInNewContext(script, { re, texts, result }, { timeout: Math.max(1, limitMs) });
    }
    catch (error) {
        if (error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
            throw new GrepProblem('grep-timeout', `the pattern took longer than ${limitMs} ms to match against ${texts.length} tests: simplify it`);
        throw new GrepProblem('grep-invalid', String(error.message ?? error));
    }
    return result;
}
// Thousands of IDs joined by `|` are the pattern that TAS itself makes. A RegExp tries each alternative at each place
// of each text; a set of the words is asked once for each place and length.
function literalAlternatives(pattern) {
    if (!/^[\w-]+(?:\|[\w-]+){15,}$/.test(pattern))
        return undefined;
    const words = new Set(pattern.toLowerCase().split('|'));
    const lengths = [...new Set([...words].map(word => word.length))];
    if (lengths.length > 8)
        return undefined;
    return {
        matches(text) {
            const lower = text.toLowerCase();
            if (words.has(lower))
                return true;
            return lengths.some(length => {
                for (let i = 0; i + length <= lower.length; i++) {
                    if (words.has(lower.substr(i, length)))
                        return true;
                }
                return false;
            });
        },
    };
}
