// One JSON object a line over a socket. Lines leave in the order of send and sendLater; sendLater waits a moment for
// company, because a write for each step of a test was measured to cost a tenth of the run.
import { Socket } from 'net';
import type { Message } from './protocol';

const batchMs = 50;
const batchBytes = 64 * 1024;

export class Channel {
  private pending = '';
  private timer: NodeJS.Timeout | undefined;
  private input = '';
  private open = true;
  private listener: (message: any) => void = () => {};
  private closeListener: () => void = () => {};
  private early: unknown[] = [];
  private listening = false;

  constructor(private socket: Socket) {
    socket.setEncoding('utf8');
    socket.on('data', chunk => this.receive(String(chunk)));
    const closed = () => {
      if (!this.open)
        return;
      this.open = false;
      this.closeListener();
    };
    socket.on('end', closed);
    socket.on('close', closed);
    socket.on('error', closed);
  }

  /** Messages that came before the first listener are handed to it at once. */
  onMessage(listener: (message: any) => void): void {
    this.listener = listener;
    this.listening = true;
    for (const message of this.early.splice(0))
      listener(message);
  }

  /** The other side is gone. Called once, and at once if it already is. */
  onClose(listener: () => void): void {
    this.closeListener = listener;
    if (!this.open)
      listener();
  }

  send(message: Message): void {
    this.pending += JSON.stringify(message) + '\n';
    this.flush();
  }

  sendLater(message: Message): void {
    this.pending += JSON.stringify(message) + '\n';
    if (this.pending.length > batchBytes)
      this.flush();
    else
      this.timer ??= setTimeout(() => this.flush(), batchMs);
  }

  /** Resolves when the kernel has everything, or when nobody is left to read it. */
  drain(): Promise<void> {
    this.flush();
    if (!this.open)
      return Promise.resolve();
    return new Promise(resolve => {
      this.socket.write('', () => resolve());
      this.socket.once('close', () => resolve());
    });
  }

  /** For the exit hook of the process, where nothing asynchronous happens any more. */
  sendSync(message: Message): void {
    (this.socket as any)._handle?.setBlocking?.(true);
    this.send(message);
  }

  /** The process may end though the other side still holds its end. */
  release(): void {
    this.flush();
    this.socket.unref();
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.pending)
      return;
    const text = this.pending;
    this.pending = '';
    if (this.open)
      this.socket.write(text);
  }

  private receive(text: string): void {
    this.input += text;
    for (let end = this.input.indexOf('\n'); end >= 0; end = this.input.indexOf('\n')) {
      const line = this.input.slice(0, end);
      this.input = this.input.slice(end + 1);
      let message: unknown;
      try {
        message = JSON.parse(line);
      } catch {
        this.send({ type: 'error', message: 'tas-runner got a line that is no JSON: ' + line.slice(0, 200) });
        continue;
      }
      if (this.listening)
        this.listener(message);
      else
        this.early.push(message);
    }
  }
}
