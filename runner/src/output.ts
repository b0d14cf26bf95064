// What tests print, up to a limit for each try of each test; what is printed outside of tests has one limit for all.
import type { Message } from './protocol';
import type { TestCase } from './tests';
import { stripAnsi } from './text';

const limitBytes = 64 * 1024;

interface Printed {
  bytes: number;
  full: boolean;
}

export class Output {
  private byResult = new WeakMap<object, Printed>();
  private outside: Printed = { bytes: 0, full: false };

  constructor(private send: (message: Message) => void) {}

  add(stream: 'stdout' | 'stderr', chunk: string | Buffer, test: TestCase | undefined, result: any): void {
    let printed = this.outside;
    if (test && result) {
      printed = this.byResult.get(result) ?? { bytes: 0, full: false };
      this.byResult.set(result, printed);
    }
    if (printed.full)
      return;
    const bytes = Buffer.from(chunk as any);
    const rest = limitBytes - printed.bytes;
    printed.bytes += bytes.length;
    printed.full = bytes.length > rest;
    this.send({
      type: 'output', id: test?.id, retry: result?.retry, stream,
      text: stripAnsi(bytes.subarray(0, rest).toString('utf8')), truncated: printed.full,
    });
  }
}
