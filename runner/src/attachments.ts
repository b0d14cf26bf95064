// Attachments of a test: files are named by their path, bodies travel in the message unless they are large.
import * as fs from 'fs';
import * as path from 'path';

const largestBody = 256 * 1024;

export interface WireAttachment {
  name: string;
  contentType: string;
  path?: string;
  body?: string;
}

export class Attachments {
  private written = 0;

  constructor(private outDir: string) {}

  wire(attachments: any[] | undefined): WireAttachment[] {
    return (attachments ?? []).map(({ name, contentType, path: file, body }) => {
      if (file)
        return { name, contentType, path: path.resolve(file) };
      if (!body || body.length <= largestBody)
        return { name, contentType, body: body ? Buffer.from(body).toString('base64') : '' };
      return { name, contentType, path: this.write(name, body) };
    });
  }

  private write(name: string, body: Buffer): string {
    const folder = path.join(this.outDir, 'attachments');
    fs.mkdirSync(folder, { recursive: true });
    const file = path.join(folder, `${++this.written}-${String(name).replace(/[^\w.-]+/g, '_').slice(0, 80)}`);
    fs.writeFileSync(file, body);
    return file;
  }
}
