"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Channel = void 0;
const batchMs = 50;
const batchBytes = 64 * 1024;
class Channel {
    socket;
    pending = '';
    timer;
    input = '';
    open = true;
    listener = () => { };
    closeListener = () => { };
    early = [];
    listening = false;
    constructor(socket) {
        this.socket = socket;
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
    onMessage(listener) {
        this.listener = listener;
        this.listening = true;
        for (const message of this.early.splice(0))
            listener(message);
    }
    /** The other side is gone. Called once, and at once if it already is. */
    onClose(listener) {
        this.closeListener = listener;
        if (!this.open)
            listener();
    }
    send(message) {
        this.pending += JSON.stringify(message) + '\n';
        this.flush();
    }
    sendLater(message) {
        this.pending += JSON.stringify(message) + '\n';
        if (this.pending.length > batchBytes)
            this.flush();
        else
            this.timer ??= setTimeout(() => this.flush(), batchMs);
    }
    /** Resolves when the kernel has everything, or when nobody is left to read it. */
    drain() {
        this.flush();
        if (!this.open)
            return Promise.resolve();
        return new Promise(resolve => {
            this.socket.write('', () => resolve());
            this.socket.once('close', () => resolve());
        });
    }
    /** For the exit hook of the process, where nothing asynchronous happens any more. */
    sendSync(message) {
        this.socket._handle?.setBlocking?.(true);
        this.send(message);
    }
    /** The process may end though the other side still holds its end. */
    release() {
        this.flush();
        this.socket.unref();
    }
    flush() {
        clearTimeout(this.timer);
        this.timer = undefined;
        if (!this.pending)
            return;
        const text = this.pending;
        this.pending = '';
        if (this.open)
            this.socket.write(text);
    }
    receive(text) {
        this.input += text;
        for (let end = this.input.indexOf('\n'); end >= 0; end = this.input.indexOf('\n')) {
            const line = this.input.slice(0, end);
            this.input = this.input.slice(end + 1);
            let message;
            try {
                message = JSON.parse(line);
            }
            catch {
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
exports.Channel = Channel;
