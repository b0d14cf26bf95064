// What the runner and its hook for recovery (src/recover.ts) say to each other, and the runner's part: it hands
// questions on, answers back, and knows which tries were recovered.
import type { ChildProcess } from 'child_process';
import type { Location, Message, Recovered } from './protocol';
import { wireLocation } from './text';

/** From the hook: a locator found nothing. Its parameters are a Question. */
export const askMessage = '__tas_ask__';
/** To the hook: the parameters are an Answer. */
export const answerMessage = '__tas_answer__';
/** From the hook: with the answer of this ID a step was taken. */
export const recoveredMessage = '__tas_recovered__';

/** In one try of a test. */
export const maxRecovered = 3;
/** How long an answer may take, the way included. */
export const answerWithinMs = 2000;

const maxAsked = 100;
const maxText = 3 * 1024 * 1024;

export interface Question {
  /** Of the process: the answer has it, too. */
  id: number;
  method: string;
  selector: string;
  stack: (Location & { function?: string })[];
  /** Earlier steps of the same kind in the same function, in their order. */
  earlier: { line: number; column: number }[];
  url: string;
  page: string;
  failed: { method: string; path: string; status: number }[];
  uncaught: number;
}

export interface Answer {
  id: number;
  /** As it is written in a test; '' for none. */
  locator: string;
}

interface Asked {
  child: ChildProcess;
  id: number;
  test: string;
  question: Question;
  answer?: { locator: string; before: string; why: string };
  timer: NodeJS.Timeout;
}

export class Recovery {
  private asked = new Map<number, Asked>();
  private last = 0;
  private done = new Map<string, Recovered[]>();

  constructor(private send: (message: Message) => void) {}

  /** A message of a process that runs this try; false for one that is about something else. */
  take(child: ChildProcess, message: any, test: string | undefined, retry: number): boolean {
    if (message?.method === askMessage)
      this.ask(child, message.params, test, retry);
    else if (message?.method === recoveredMessage)
      this.note(child, message.params?.id, test, retry);
    else
      return false;
    return true;
  }

  /** The attempt's answer. */
  answer(message: any): void {
    const asked = this.asked.get(Number(message?.id));
    if (!asked || asked.answer)
      return;
    clearTimeout(asked.timer);
    const text = (value: unknown) => typeof value === 'string' ? value : '';
    asked.answer = { locator: text(message.locator), before: text(message.before), why: text(message.why) };
    this.reply(asked.child, { id: asked.question.id, locator: asked.answer.locator });
  }

  /** What was recovered in a try, which is over. */
  takeOut(test: string, retry: number): Recovered[] | undefined {
    const key = `${test} ${retry}`;
    const done = this.done.get(key);
    this.done.delete(key);
    this.asked.forEach((asked, id) => asked.test === key && this.asked.delete(id));
    return done;
  }

  private ask(child: ChildProcess, question: Question, test: string | undefined, retry: number): void {
    if (typeof question?.id !== 'number')
      return;
    if (!test || this.last >= maxAsked || (this.done.get(`${test} ${retry}`)?.length ?? 0) >= maxRecovered || JSON.stringify(question).length > maxText || !question.stack?.length)
      return this.reply(child, { id: question.id, locator: '' });
    const id = ++this.last;
    const asked: Asked = { child, id, test: `${test} ${retry}`, question: { ...question, page: '' }, timer: setTimeout(() => this.answer({ id }), answerWithinMs) };
    asked.timer.unref();
    this.asked.set(id, asked);
    const { stack, ...told } = question;
    this.send({ type: 'recover', ...told, id: String(id), test, retry, frames: stack.map(frame => ({ ...wireLocation(frame)!, function: frame.function })) });
  }

  // What is said of a recovery is what the service answered, not what the test's process says.
  private note(child: ChildProcess, id: unknown, test: string | undefined, retry: number): void {
    const key = `${test} ${retry}`;
    const asked = [...this.asked.values()].find(asked => asked.child === child && asked.question.id === id && asked.test === key);
    if (!asked?.answer?.locator)
      return;
    this.asked.delete(asked.id);
    const done = this.done.get(key) ?? [];
    this.done.set(key, done);
    const { file, line } = wireLocation(asked.question.stack[0])!;
    if (done.length < maxRecovered)
      done.push({ method: asked.question.method, before: asked.answer.before, after: asked.answer.locator, file, line, why: asked.answer.why });
  }

  private reply(child: ChildProcess, params: Answer): void {
    if (child.connected)
      child.send({ method: answerMessage, params }, () => {});
  }
}
