"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Recovery = exports.answerWithinMs = exports.maxRecovered = exports.recoveredMessage = exports.answerMessage = exports.askMessage = void 0;
const text_1 = require("./text");
/** From the hook: a locator found nothing. Its parameters are a Question. */
exports.askMessage = '__tas_ask__';
/** To the hook: the parameters are an Answer. */
exports.answerMessage = '__tas_answer__';
/** From the hook: with the answer of this ID a step was taken. */
exports.recoveredMessage = '__tas_recovered__';
/** In one try of a test. */
exports.maxRecovered = 3;
/** How long an answer may take, the way included. */
exports.answerWithinMs = 2000;
const maxAsked = 100;
const maxText = 3 * 1024 * 1024;
class Recovery {
    send;
    asked = new Map();
    last = 0;
    done = new Map();
    constructor(send) {
        this.send = send;
    }
    /** A message of a process that runs this try; false for one that is about something else. */
    take(child, message, test, retry) {
        if (message?.method === exports.askMessage)
            this.ask(child, message.params, test, retry);
        else if (message?.method === exports.recoveredMessage)
            this.note(child, message.params?.id, test, retry);
        else
            return false;
        return true;
    }
    /** The attempt's answer. */
    answer(message) {
        const asked = this.asked.get(Number(message?.id));
        if (!asked || asked.answer)
            return;
        clearTimeout(asked.timer);
        const text = (value) => typeof value === 'string' ? value : '';
        asked.answer = { locator: text(message.locator), before: text(message.before), why: text(message.why) };
        this.reply(asked.child, { id: asked.question.id, locator: asked.answer.locator });
    }
    /** What was recovered in a try, which is over. */
    takeOut(test, retry) {
        const key = `${test} ${retry}`;
        const done = this.done.get(key);
        this.done.delete(key);
        this.asked.forEach((asked, id) => asked.test === key && this.asked.delete(id));
        return done;
    }
    ask(child, question, test, retry) {
        if (typeof question?.id !== 'number')
            return;
        if (!test || this.last >= maxAsked || (this.done.get(`${test} ${retry}`)?.length ?? 0) >= exports.maxRecovered || JSON.stringify(question).length > maxText || !question.stack?.length)
            return this.reply(child, { id: question.id, locator: '' });
        const id = ++this.last;
        const asked = { child, id, test: `${test} ${retry}`, question: { ...question, page: '' }, timer: setTimeout(() => this.answer({ id }), exports.answerWithinMs) };
        asked.timer.unref();
        this.asked.set(id, asked);
        const { stack, ...told } = question;
        this.send({ type: 'recover', ...told, id: String(id), test, retry, frames: stack.map(frame => ({ ...(0, text_1.wireLocation)(frame), function: frame.function })) });
    }
    // What is said of a recovery is what the service answered, not what the test's process says.
    note(child, id, test, retry) {
        const key = `${test} ${retry}`;
        const asked = [...this.asked.values()].find(asked => asked.child === child && asked.question.id === id && asked.test === key);
        if (!asked?.answer?.locator)
            return;
        this.asked.delete(asked.id);
        const done = this.done.get(key) ?? [];
        this.done.set(key, done);
        const { file, line } = (0, text_1.wireLocation)(asked.question.stack[0]);
        if (done.length < exports.maxRecovered)
            done.push({ method: asked.question.method, before: asked.answer.before, after: asked.answer.locator, file, line, why: asked.answer.why });
    }
    reply(child, params) {
        if (child.connected)
            child.send({ method: exports.answerMessage, params }, () => { });
    }
}
exports.Recovery = Recovery;
