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
    /**
     * Takes out what is no regular file, in place: the reporters after this one would wait for a pipe for ever, and fail
     * the run over a path that leads through a file. The attempt is still told of them and says that they are not kept.
     */
    prune(attachments) {
        for (let i = (attachments?.length ?? 0) - 1; i >= 0; i--) {
            const file = attachments[i].path;
            if (file && !isRegular(file))
                attachments.splice(i, 1);
        }
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
function isRegular(file) {
    try {
        return fs.statSync(file).isFile();
    }
    catch {
        return false;
    }
}
