// Another runner in a process of its own, that speaks the same protocol with this one as its attempt: to list with a
// Playwright that cannot be asked in the middle of a run, and to run what one process cannot.
import { spawn } from 'child_process';
import type { Socket } from 'net';
import { Channel } from './channel';
import type { Message, Start } from './protocol';

export interface Relay {
  send(message: Message): void;
  /** Resolves when the process is gone and its last message was handed on. */
  exited: Promise<void>;
}

export function startRunner(start: Start, onMessage: (message: Message) => void): Relay {
  const child = spawn(process.execPath, [...process.execArgv, require.resolve('./main.js')], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
  const socket = child.stdio[3] as Socket;
  const channel = new Channel(socket);
  channel.onMessage(onMessage);
  channel.send({ ...start });
  return {
    send: message => channel.send(message),
    exited: new Promise(resolve => {
      child.once('close', () => resolve());
      child.once('error', () => resolve());
    }),
  };
}
