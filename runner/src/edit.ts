// Repairs a part of a locator, or several that follow each other, in the tests' source with the smallest edit: the file is never printed anew.
import * as path from 'path';
import { unified } from './diff';
import type { Playwright } from './playwright';
import { bare, isCall, NotFound, Sources, stringOf, type Node, type Segment, type Source } from './source';

/** What is to be edited: the locator that is used at a place of the source. */
export interface Order {
  /** Of the step that failed, innermost first; lines and columns count from 1. */
  stack: { file: string; line: number; column: number }[];
  /** The whole locator as Playwright writes it: getByRole('article').getByTestId('drop'). */
  locator: string;
  /** Which of its parts is broken, from 0. */
  part: number;
  /** The last of several parts that are broken; what is less than part means part alone. */
  through?: number;
  /** What is to stand there instead: getByTestId('remove'), or several parts. */
  replacement: string;
}

export interface Edited {
  file: string;
  line: number;
  column: number;
  /** What is written there now, and what is to be. */
  before: string;
  after: string;
  /** The edit as a unified diff, with paths from the root. */
  patch: string;
}

/** An edit with where it is in the text of its file. */
export interface Place extends Omit<Edited, 'patch'> {
  source: Source;
  start: number;
  end: number;
}

/** Errors are NotFound, whose code says why there is no edit. */
export function edit(playwright: Playwright, root: string, order: Order): Edited {
  const { source, start, end, ...edited } = place(new Sources(playwright, root), root, order);
  return { ...edited, patch: unified(edited.file, source.text, [{ start, end, after: edited.after }]) };
}

/** Where an edit is to be made, and which. Errors as of edit. */
export function place(sources: Sources, root: string, order: Order): Place {
  const wanted = parseParts(sources, order.locator);
  const replacement = parseParts(sources, order.replacement);
  if (!Number.isInteger(order.part) || order.part < 0 || order.part >= wanted.length)
    throw new NotFound('no-segment', `the locator has ${wanted.length} parts`);
  if (replacement.length > 1 && replacement.some(segment => !/^(locator|getBy\w+)$/.test(segment.method)))
    throw new NotFound('no-segment', 'what is to stand there does more than find an element in another one');
  const through = Math.max(order.part, order.through ?? 0);
  if (!Number.isInteger(through) || through >= wanted.length)
    throw new NotFound('no-segment', `the locator has ${wanted.length} parts`);
  let why: NotFound | undefined;
  for (const place of order.stack) {
    try {
      const source = sources.open(path.resolve(root, place.file));
      const call = sources.callAt(source, place.line, place.column);
      const written = sources.locatorOf(source, call);
      const segment = choose(sources, written, wanted, order.part);
      if (through === order.part && replacement.length === 1)
        return change(sources, segment, wanted[order.part], replacement[0], order.replacement);
      return span(sources, segment, through === order.part ? segment : choose(sources, written, wanted, through), order.replacement);
    } catch (error) {
      if (!(error instanceof NotFound))
        throw error;
      // The outer places only call the inner ones; their reasons say less.
      why ??= error;
    }
  }
  throw why ?? new NotFound('no-call', 'no place of the source is known');
}

/** The parts of a locator that is given as code. */
function parseParts(sources: Sources, code: string): Segment[] {
  let program: Node;
  try {
    program = sources.parse(`page.${code}`, 'locator.ts');
  } catch (error) {
    throw new NotFound('no-segment', `${code} is no locator: ${(error as Error).message}`);
  }
  if (program.body.length !== 1 || program.body[0].type !== 'ExpressionStatement')
    throw new NotFound('no-segment', `${code} is no locator`);
  const parts = sources.chain({ file: 'locator.ts', text: `page.${code}`, program }, program.body[0].expression, 0);
  if (!parts.length)
    throw new NotFound('no-segment', `${code} is no locator`);
  return parts;
}

/** The part of the source's locator that is meant. */
function choose(sources: Sources, written: Segment[], wanted: Segment[], part: number): Segment {
  const agree = written.map(segment => sameCall(sources, segment, wanted[part]));
  if (written.length === wanted.length && agree[part])
    return written[part];
  const found = written.filter((_, i) => agree[i]);
  if (found.length === 1)
    return found[0];
  const text = wanted[part].source.text.slice(wanted[part].call.callee.property.start, wanted[part].call.end);
  if (found.length)
    throw new NotFound('ambiguous', `${text} stands in this locator ${found.length} times`);
  const near = written.some(segment => segment.method === wanted[part].method);
  throw new NotFound(near ? 'not-literal' : 'no-segment', near ? `${text} is made up of values that are not written in the source` : `${text} is not written where this step is`);
}

/** Whether a call in the source is the one that a locator shows: same method, and arguments that are the same as far as they are written. */
function sameCall(sources: Sources, written: Segment, wanted: Segment): boolean {
  if (written.method !== wanted.method)
    return false;
  const a = written.call.arguments, b = wanted.call.arguments;
  if (a.length < b.length || b.length === 0 && a.length > 0)
    return false;
  return b.every((argument: Node, i: number) => sameValue(sources, written.source, a[i], wanted.source, argument));
}

function sameValue(sources: Sources, as: Source, a: Node, bs: Source, b: Node): boolean {
  a = bare(a);
  b = bare(b);
  if (b.type === 'ObjectExpression') {
    if (a.type !== 'ObjectExpression')
      return false;
    return b.properties.every((p: Node) => {
      const other = property(a, p.key?.name ?? p.key?.value);
      return other && sameValue(sources, as, other, bs, p.value);
    });
  }
  const x = sources.literal(as, a), y = sources.literal(bs, b);
  if (x && y)
    return String(x.value) === String(y.value);
  if (/^(Numeric|Boolean)Literal$/.test(a.type) && a.type === b.type)
    return a.value === b.value;
  // A locator in a locator: filter({ has: … }).
  const inner = isCall(b) ? sources.chain(bs, b, 0) : [];
  const outer = inner.length ? sources.chain(as, a, 0) : [];
  return inner.length > 0 && inner.length === outer.length && inner.every((s, i) => sameCall(sources, outer[i], s));
}

function property(object: Node, name: string): Node | undefined {
  return object.properties.find((p: Node) => p.type === 'ObjectProperty' && !p.computed && (p.key.name ?? p.key.value) === name)?.value;
}

/** Replaces one literal where that is all that differs, else the call from its name to its closing bracket. */
function change(sources: Sources, segment: Segment, wanted: Segment, replacement: Segment, code: string): Place {
  const pairs = differing(segment.method === replacement.method ? segment.call.arguments : undefined, wanted.call.arguments, replacement.call.arguments);
  if (pairs?.length === 1) {
    const [written, text] = pairs[0];
    const literal = sources.literal(segment.source, written);
    if (literal && typeof literal.value === 'string')
      return found(sources, literal.source, literal.node.start, literal.node.end, quoted(literal.source.text.slice(literal.node.start, literal.node.end), text));
  }
  const callee = segment.call.callee;
  if (callee.property.name !== segment.method)
    throw new NotFound('not-literal', 'the element is named by a call that is no locator: write it as page.locator(…) first');
  return found(sources, segment.source, callee.property.start, segment.call.end, code);
}

/** Replaces calls that follow each other, from the name of the first to the closing bracket of the last. */
function span(sources: Sources, first: Segment, last: Segment, code: string): Place {
  const callee = first.call.callee;
  // What is chained begins at one place of one file.
  if (first.source !== last.source || first.call.start !== last.call.start || first.call.end > last.call.end || callee.property.name !== first.method)
    throw new NotFound('not-literal', 'the parts of the locator are written in several places');
  return found(sources, first.source, callee.property.start, last.call.end, code);
}

/** The texts in which two lists of arguments differ, with the place in the source of the first; undefined where more than texts differ. */
function differing(written: Node[] | undefined, wanted: Node[], replacement: Node[]): [Node, string][] | undefined {
  if (!written || wanted.length !== replacement.length)
    return;
  const out: [Node, string][] = [];
  for (let i = 0; i < wanted.length; i++) {
    const a = bare(wanted[i]), b = bare(replacement[i]), w = bare(written[i]);
    if (a.type === 'ObjectExpression') {
      if (b.type !== 'ObjectExpression' || w.type !== 'ObjectExpression' || a.properties.length !== b.properties.length)
        return;
      for (const p of a.properties) {
        const name = p.key?.name ?? p.key?.value;
        const inner = differing([property(w, name)], [p.value], [property(b, name)]);
        if (!inner)
          return;
        out.push(...inner);
      }
      continue;
    }
    const x = stringOf(a), y = stringOf(b);
    if (x !== undefined && y !== undefined) {
      if (x !== y)
        out.push([w, y]);
    } else if (a.type !== b.type || a.value !== b.value || a.pattern !== b.pattern || a.flags !== b.flags) {
      return;
    }
  }
  return out;
}

/** A text in the quotes that the old one has. */
function quoted(old: string, text: string): string {
  const quote = old[0];
  let out = '';
  for (const c of text) {
    if (c === '\\' || c === quote || quote === '`' && c === '$')
      out += '\\' + c;
    else if (c === '\n')
      out += '\\n';
    else if (c === '\r')
      out += '\\r';
    else if (c < ' ' || c === '\u2028' || c === '\u2029')
      out += `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
    else
      out += c;
  }
  return quote + out + quote;
}

function found(sources: Sources, source: Source, start: number, end: number, after: string): Place {
  const { text } = source;
  return {
    file: sources.name(source.file).split(path.sep).join('/'), line: text.slice(0, start).split('\n').length, column: start - text.lastIndexOf('\n', start - 1),
    before: text.slice(start, end), after, source, start, end,
  };
}
