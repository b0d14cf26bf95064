"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Output = void 0;
const text_1 = require("./text");
const limitBytes = 64 * 1024;
class Output {
    send;
    byResult = new WeakMap();
    outside = { bytes: 0, full: false };
    constructor(send) {
        this.send = send;
    }
    add(stream, chunk, test, result) {
        let printed = this.outside;
        if (test && result) {
            printed = this.byResult.get(result) ?? { bytes: 0, full: false };
            this.byResult.set(result, printed);
        }
        if (printed.full)
            return;
        const bytes = Buffer.from(chunk);
        const rest = limitBytes - printed.bytes;
        printed.bytes += bytes.length;
        printed.full = bytes.length > rest;
        this.send({
            type: 'output', id: test?.id, retry: result?.retry, stream,
            text: (0, text_1.stripAnsi)(bytes.subarray(0, rest).toString('utf8')), truncated: printed.full,
        });
    }
}
exports.Output = Output;
