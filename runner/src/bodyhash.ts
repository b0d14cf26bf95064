// A fingerprint of what a test does: the arguments of its call without the title, with comments gone and blanks,
// quotes and trailing commas made alike, so that neither a rename nor a formatter changes it, and an edit does.
// A small tokenizer is enough, and it is far quicker than a parser; what it cannot read has the fingerprint "".
import { createHash } from 'crypto';
import * as fs from 'fs';
import type { Location } from './protocol';

interface Source {
  text: string;
  lines: number[];
  hashes: Map<number, string>;
}

export class BodyHashes {
  private files = new Map<string, Source | null>();

  /** The fingerprint of the call at this place, "" when there is none to be read. */
  at(location: Location): string {
    let source = this.files.get(location.file);
    if (source === undefined) {
      source = readSource(location.file);
      this.files.set(location.file, source);
    }
    if (!source || location.line < 1 || location.line > source.lines.length)
      return '';
    const offset = source.lines[location.line - 1] + Math.max(0, location.column - 1);
    let hash = source.hashes.get(offset);
    if (hash === undefined) {
      hash = hashOfCall(source.text, offset);
      source.hashes.set(offset, hash);
    }
    return hash;
  }
}

function readSource(file: string): Source | null {
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch {
    return null;
  }
  const lines = [0];
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1))
    lines.push(i + 1);
  return { text, lines, hashes: new Map() };
}

/** The offset is where a stack trace points: on the callee, its last name, or the parenthesis itself. */
export function hashOfCall(text: string, offset: number): string {
  try {
    const paren = openingParen(text, offset);
    if (paren < 0)
      return '';
    const body = new Scanner(text, paren + 1).argumentsAfterTitle();
    return body === undefined ? '' : createHash('sha256').update(body).digest('hex');
  } catch {
    return '';
  }
}

function openingParen(text: string, offset: number): number {
  const callee = /(?:[\w$.?\s]|\/\*[^]*?\*\/|\/\/[^\n]*\n|<[^()<>]*>)*\(/y;
  callee.lastIndex = offset;
  const match = callee.exec(text);
  return match ? callee.lastIndex - 1 : -1;
}

const name = /[\w$\u0080-\uffff]/;
const beforeRegex = new Set(['return', 'typeof', 'case', 'in', 'of', 'delete', 'void', 'throw', 'new', 'else', 'do', 'await', 'yield', 'instanceof', 'default']);

class Scanner {
  private out: string[] = [];
  private last = '';
  private depth = 0;

  constructor(private text: string, private at: number) {}

  /** From behind the opening parenthesis to its partner; undefined when it has none. */
  argumentsAfterTitle(): string | undefined {
    let title = true;
    while (this.at < this.text.length) {
      if (this.depth === 0 && this.text[this.at] === ')') {
        this.dropTrailing(',');
        return title ? '' : this.out.join('');
      }
      if (title && this.depth === 0 && this.text[this.at] === ',') {
        title = false;
        this.at++;
        this.out = [];
        this.last = ',';
        continue;
      }
      this.token();
    }
    return undefined;
  }

  private token(): void {
    const { text } = this;
    const char = text[this.at];
    if (/\s/.test(char)) {
      this.at++;
    } else if (name.test(char)) {
      const start = this.at;
      while (this.at < text.length && name.test(text[this.at]))
        this.at++;
      this.emit(text.slice(start, this.at));
    } else if (char === '/' && text[this.at + 1] === '/') {
      const end = text.indexOf('\n', this.at);
      this.at = end < 0 ? text.length : end;
    } else if (char === '/' && text[this.at + 1] === '*') {
      const end = text.indexOf('*/', this.at + 2);
      this.at = end < 0 ? text.length : end + 2;
    } else if (char === '"' || char === "'") {
      this.string(char);
    } else if (char === '`') {
      this.template();
    } else if (char === '/' && this.regexMayStart()) {
      this.regex();
    } else {
      this.punctuation(char);
    }
  }

  private punctuation(char: string): void {
    if ('([{'.includes(char))
      this.depth++;
    if (')]}'.includes(char)) {
      this.depth--;
      if (this.last !== '[' && this.out[this.out.length - 2] !== '[')
        this.dropTrailing(',');
      if (char === '}')
        this.dropTrailing(';');
    }
    this.emit(char);
    this.at++;
  }

  private string(quote: string): void {
    let end = this.at + 1;
    while (end < this.text.length && this.text[end] !== quote && this.text[end] !== '\n')
      end += this.text[end] === '\\' ? 2 : 1;
    if (this.text[end] !== quote) {
      // An apostrophe in JSX text, not a string.
      this.emit(quote);
      this.at++;
      return;
    }
    const inside = this.text.slice(this.at + 1, end).replace(/\\(['"])/g, '$1').replace(/"/g, '\\"');
    this.emit('"' + inside + '"');
    this.at = end + 1;
  }

  private template(): void {
    let start = this.at++;
    this.emit('');
    while (this.at < this.text.length && this.text[this.at] !== '`') {
      if (this.text[this.at] === '\\') {
        this.at += 2;
      } else if (this.text[this.at] === '$' && this.text[this.at + 1] === '{') {
        this.at += 2;
        this.raw(start);
        this.last = '{';
        for (const depth = this.depth; this.at < this.text.length && !(this.depth === depth && this.text[this.at] === '}');)
          this.token();
        start = this.at;
      } else {
        this.at++;
      }
    }
    this.at++;
    this.raw(start);
    this.last = '`';
  }

  private raw(start: number): void {
    this.out.push(this.text.slice(start, this.at).replace(/\r\n/g, '\n'));
  }

  private regexMayStart(): boolean {
    if (beforeRegex.has(this.last))
      return true;
    return !this.last || !(name.test(this.last[this.last.length - 1]) || ')]`"'.includes(this.last[this.last.length - 1]));
  }

  private regex(): void {
    let inClass = false;
    for (let end = this.at + 1; end < this.text.length && this.text[end] !== '\n'; end++) {
      const char = this.text[end];
      if (char === '\\')
        end++;
      else if (char === '[')
        inClass = true;
      else if (char === ']')
        inClass = false;
      else if (char === '/' && !inClass) {
        this.emit(this.text.slice(this.at, end + 1));
        this.last = ')';
        this.at = end + 1;
        return;
      }
    }
    this.emit('/');
    this.at++;
  }

  /** A blank stays only where its absence would make another program of it. */
  private emit(token: string): void {
    const before = this.last[this.last.length - 1] ?? '';
    const after = token[0] ?? '';
    if ((name.test(before) && name.test(after)) || ((before === '+' || before === '-') && before === after && /\s/.test(this.text[this.at - 1])))
      this.out.push(' ');
    this.out.push(token);
    if (token)
      this.last = token;
  }

  private dropTrailing(char: string): void {
    if (this.out[this.out.length - 1] !== char)
      return;
    this.out.pop();
    this.last = this.out[this.out.length - 1] ?? '';
  }
}
