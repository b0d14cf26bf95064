"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Attachments = void 0;
// Attachments of a test: files are named by their path, bodies travel in the message unless they are large.
const fs = require("fs");
const path = require("path");
const largestBody = 256 * 1024;
class Attachments {
    outDir;
    written = 0;
    constructor(outDir) {
        this.outDir = outDir;
    }
    wire(attachments) {
        return (attachments ?? []).map(({ name, contentType, path: file, body }) => {
            if (file)
                return { name, contentType, path: path.resolve(file) };
            if (!body || body.length <= largestBody)
                return { name, contentType, body: body ? Buffer.from(body).toString('base64') : '' };
            return { name, contentType, path: this.write(name, body) };
        });
    }
    write(name, body) {
        const folder = path.join(this.outDir, 'attachments');
        fs.mkdirSync(folder, { recursive: true });
        const file = path.join(folder, `${++this.written}-${String(name).replace(/[^\w.-]+/g, '_').slice(0, 80)}`);
        fs.writeFileSync(file, body);
        return file;
    }
}
exports.Attachments = Attachments;
