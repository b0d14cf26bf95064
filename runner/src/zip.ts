// As much of zip files as Playwright's blobs need: entries are read as streams, one can be replaced where it lies, and
// one can be written alone. The other entries' bytes are never touched, so a blob of gigabytes costs what its events do.
import * as fs from 'fs';
import { pipeline } from 'stream/promises';
import { Transform, type Readable } from 'stream';
import * as zlib from 'zlib';

const most32 = 0xffffffff;
const longestLine = 256 * 1024 * 1024;

export interface Entry {
  name: string;
  method: number;
  crc: number;
  compressedSize: number;
  size: number;
  offset: number;
  /** Its whole record in the central directory. */
  record: Buffer;
}

export class Zip {
  private constructor(private file: fs.promises.FileHandle, readonly path: string, readonly entries: Entry[], readonly directoryAt: number) {}

  /** Throws an error in plain words for what is no zip. */
  static async open(path: string): Promise<Zip> {
    const file = await fs.promises.open(path, 'r');
    try {
      const { size } = await file.stat();
      const { at, bytes, count } = await findDirectory(file, size);
      const entries = readDirectory(await readAt(file, at, bytes), count);
      return new Zip(file, path, entries, at);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  entry(name: string): Entry | undefined {
    return this.entries.find(entry => entry.name === name);
  }

  /** The entry's content; fails at the end where it is not what the directory says. */
  async *read(entry: Entry): AsyncGenerator<Buffer> {
    const header = await readAt(this.file, entry.offset, 30);
    if (header.readUInt32LE(0) !== 0x04034b50)
      throw new Error('a part of it is damaged');
    const start = entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
    if (entry.method !== 0 && entry.method !== 8)
      throw new Error(`a part of it is compressed in an unknown way (${entry.method})`);
    if (!entry.compressedSize)
      return;
    const raw: Readable = fs.createReadStream(this.path, { start, end: start + entry.compressedSize - 1 });
    const plain = entry.method === 8 ? raw.pipe(zlib.createInflateRaw()) : raw;
    raw.on('error', error => plain.destroy(error));
    let crc = 0;
    let size = 0;
    try {
      for await (const chunk of plain) {
        crc = crc32(chunk, crc);
        size += chunk.length;
        if (size > entry.size)
          throw new Error('a part of it is larger than it says');
        yield chunk;
      }
    } finally {
      raw.destroy();
    }
    if (crc !== entry.crc || size !== entry.size)
      throw new Error('a part of it is damaged');
  }

  lines(entry: Entry): AsyncGenerator<string> {
    return linesOf(this.read(entry));
  }

  async close(): Promise<void> {
    await this.file.close();
  }
}

export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      rest.push(chunk.subarray(from, end));
      yield Buffer.concat(rest).toString('utf8');
      rest = [];
      length = 0;
      from = end + 1;
    }
    rest.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > longestLine)
      throw new Error('a line in it is too long');
  }
  const last = Buffer.concat(rest);
  if (last.length)
    yield last.toString('utf8');
}

/** Puts these lines in the place of an entry. Everything is prepared aside, so that little can go wrong in the file. */
export async function replaceEntry(path: string, name: string, change: (zip: Zip, entry: Entry) => AsyncIterable<string>): Promise<void> {
  const zip = await Zip.open(path);
  const aside = path + '.new';
  try {
    const old = zip.entry(name);
    if (!old)
      throw new Error(`it has no ${name}`);
    const packed = await deflateTo(aside, change(zip, old));
    const others = zip.entries.filter(entry => entry !== old);
    // Playwright writes the events last. Should it not, the old ones stay as bytes that nothing points to.
    const at = others.every(entry => entry.offset < old.offset) ? old.offset : zip.directoryAt;
    const file = await fs.promises.open(path, 'r+');
    try {
      const header = localHeader(name, packed);
      await file.write(header, 0, header.length, at);
      await pipeline(fs.createReadStream(aside), fs.createWriteStream(path, { flags: 'r+', start: at + header.length }));
      const directoryAt = at + header.length + packed.compressedSize;
      const tail = directory([...others.map(entry => entry.record), centralRecord(name, packed, at)], directoryAt);
      await file.write(tail, 0, tail.length, directoryAt);
      await file.truncate(directoryAt + tail.length);
    } finally {
      await file.close();
    }
  } finally {
    await zip.close();
    await fs.promises.rm(aside, { force: true });
  }
}

/** A zip with one entry. */
export async function writeZip(path: string, name: string, lines: AsyncIterable<string>): Promise<void> {
  const header = localHeader(name, { crc: 0, size: 0, compressedSize: 0 });
  const packed = await deflateTo(path, lines, header);
  const file = await fs.promises.open(path, 'r+');
  try {
    await file.write(localHeader(name, packed), 0, header.length, 0);
    const directoryAt = header.length + packed.compressedSize;
    const tail = directory([centralRecord(name, packed, 0)], directoryAt);
    await file.write(tail, 0, tail.length, directoryAt);
  } finally {
    await file.close();
  }
}

type Packed = Pick<Entry, 'crc' | 'size' | 'compressedSize'>;

async function deflateTo(path: string, lines: AsyncIterable<string>, before?: Buffer): Promise<Packed> {
  const packed: Packed = { crc: 0, size: 0, compressedSize: 0 };
  const count = new Transform({
    transform(chunk, _, done) {
      packed.compressedSize += chunk.length;
      done(null, chunk);
    },
  });
  const out = fs.createWriteStream(path);
  if (before)
    out.write(before);
  await pipeline(async function*() {
    for await (const chunk of batches(lines)) {
      packed.crc = crc32(chunk, packed.crc);
      packed.size += chunk.length;
      yield chunk;
    }
  }, zlib.createDeflateRaw({ level: 6 }), count, out);
  if (packed.size >= most32)
    throw new Error('it has more than 4 GB of events');
  return packed;
}

async function* batches(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let text: string[] = [];
  let length = 0;
  for await (const line of lines) {
    text.push(line, '\n');
    length += line.length;
    if (length > 256 * 1024) {
      yield Buffer.from(text.join(''));
      text = [];
      length = 0;
    }
  }
  if (text.length)
    yield Buffer.from(text.join(''));
}

async function findDirectory(file: fs.promises.FileHandle, size: number): Promise<{ at: number; bytes: number; count: number }> {
  if (!size)
    throw new Error('it is empty');
  const from = Math.max(0, size - 65557);
  const tail = await readAt(file, from, size - from);
  const end = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  if (end < 0 || end + 22 > tail.length)
    throw new Error('it has no end: it was cut off, or is no zip');
  let count = tail.readUInt16LE(end + 10);
  let bytes = tail.readUInt32LE(end + 12);
  let at = tail.readUInt32LE(end + 16);
  const locator = end - 20;
  if ((count === 0xffff || bytes === most32 || at === most32) && locator >= 0 && tail.readUInt32LE(locator) === 0x07064b50) {
    const large = await readAt(file, Number(tail.readBigUInt64LE(locator + 8)), 56);
    count = Number(large.readBigUInt64LE(32));
    bytes = Number(large.readBigUInt64LE(40));
    at = Number(large.readBigUInt64LE(48));
  }
  if (at + bytes > size || count > bytes / 46)
    throw new Error('its directory is damaged');
  return { at, bytes, count };
}

function readDirectory(bytes: Buffer, count: number): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; entries.length < count;) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== 0x02014b50)
      throw new Error('its directory is damaged');
    const nameLength = bytes.readUInt16LE(at + 28);
    const extraLength = bytes.readUInt16LE(at + 30);
    const record = bytes.subarray(at, at + 46 + nameLength + extraLength + bytes.readUInt16LE(at + 32));
    const entry: Entry = {
      name: record.toString('utf8', 46, 46 + nameLength), method: record.readUInt16LE(10), crc: record.readUInt32LE(16),
      compressedSize: record.readUInt32LE(20), size: record.readUInt32LE(24), offset: record.readUInt32LE(42), record,
    };
    readLargeNumbers(entry, record.subarray(46 + nameLength, 46 + nameLength + extraLength));
    entries.push(entry);
    at += record.length;
  }
  return entries;
}

function readLargeNumbers(entry: Entry, extra: Buffer): void {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1)
      continue;
    let field = at + 4;
    for (const key of ['size', 'compressedSize', 'offset'] as const) {
      if (entry[key] === most32) {
        entry[key] = Number(extra.readBigUInt64LE(field));
        field += 8;
      }
    }
  }
}

function localHeader(name: string, { crc, size, compressedSize }: Packed): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(0x800, 6); // the name is UTF-8
  header.writeUInt16LE(8, 8);
  header.writeUInt16LE(0x21, 12); // 1980-01-01
  header.writeUInt32LE(crc, 14);
  header.writeUInt32LE(compressedSize, 18);
  header.writeUInt32LE(size, 22);
  header.writeUInt16LE(Buffer.byteLength(name), 26);
  return Buffer.concat([header, Buffer.from(name)]);
}

function centralRecord(name: string, packed: Packed, offset: number): Buffer {
  const local = localHeader(name, packed);
  const extra = Buffer.alloc(offset >= most32 ? 12 : 0);
  if (extra.length) {
    extra.writeUInt16LE(1, 0);
    extra.writeUInt16LE(8, 2);
    extra.writeBigUInt64LE(BigInt(offset), 4);
  }
  const record = Buffer.alloc(46);
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE(0x0300 + (extra.length ? 45 : 20), 4);
  local.copy(record, 6, 4, 30); // version needed … length of extra
  record.writeUInt16LE(extra.length, 30);
  record.writeUInt32LE(0o100644 * 0x10000, 38);
  record.writeUInt32LE(Math.min(offset, most32), 42);
  return Buffer.concat([record, local.subarray(30), extra]);
}

function directory(records: Buffer[], at: number): Buffer {
  const bytes = records.reduce((sum, record) => sum + record.length, 0);
  const parts = [...records];
  if (at >= most32 || bytes >= most32 || records.length >= 0xffff) {
    const large = Buffer.alloc(76);
    large.writeUInt32LE(0x06064b50, 0);
    large.writeBigUInt64LE(44n, 4);
    large.writeUInt16LE(45, 12);
    large.writeUInt16LE(45, 14);
    large.writeBigUInt64LE(BigInt(records.length), 24);
    large.writeBigUInt64LE(BigInt(records.length), 32);
    large.writeBigUInt64LE(BigInt(bytes), 40);
    large.writeBigUInt64LE(BigInt(at), 48);
    large.writeUInt32LE(0x07064b50, 56);
    large.writeBigUInt64LE(BigInt(at + bytes), 64);
    large.writeUInt32LE(1, 72);
    parts.push(large);
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(records.length, 0xffff), 8);
  end.writeUInt16LE(Math.min(records.length, 0xffff), 10);
  end.writeUInt32LE(Math.min(bytes, most32), 12);
  end.writeUInt32LE(Math.min(at, most32), 16);
  return Buffer.concat([...parts, end]);
}

async function readAt(file: fs.promises.FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  if (bytesRead < length)
    throw new Error('it was cut off');
  return buffer;
}

const table = Int32Array.from({ length: 256 }, (_, n) => {
  for (let i = 0; i < 8; i++)
    n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});

/** Node has it since 20.15. */
const crc32: (chunk: Buffer, before: number) => number = (zlib as any).crc32 ?? ((chunk: Buffer, before: number) => {
  let crc = ~before;
  for (const byte of chunk)
    crc = (crc >>> 8) ^ table[(crc ^ byte) & 0xff];
  return ~crc >>> 0;
});
