// Makes a trial's edits before anything of the tests is loaded, and says what became of each. Either all are made, or
// none is.
import * as fs from 'fs';
import * as path from 'path';
import { changed, unified, type Change } from './diff';
import { place, type Order, type Place } from './edit';
import { lint } from './lint';
import type { Playwright } from './playwright';
import { NotFound, Sources } from './source';

/** One edit as it was made, or why it was not. */
export interface Done {
  file?: string;
  line?: number;
  column?: number;
  before?: string;
  after?: string;
  code?: string;
  why?: string;
}

export interface Outcome {
  edits: Done[];
  /** All of them, with paths from the root; '' where any could not be made. */
  patch: string;
  offences: { rule: string; file: string; line: number; message: string }[];
  /** Why nothing is to be run; undefined where all is well. */
  problem?: string;
}

/** Places of all orders are those of the source as it is; the same edit ordered twice is one. */
export function makeEdits(playwright: Playwright, root: string, orders: Order[]): Outcome {
  const sources = new Sources(playwright, root);
  const files = new Map<string, Place[]>();
  const edits = each(orders, order => {
    const found = place(sources, root, order);
    const { file, line, column, before, after } = found;
    // A link is not what is written to.
    const real = path.relative(fs.realpathSync(root), fs.realpathSync(found.source.file)).split(path.sep).join('/');
    if (!fs.readFileSync(path.join(root, real)).equals(Buffer.from(found.source.text)))
      throw new NotFound('no-source', `${real} is not UTF-8`);
    const others = files.get(real) ?? [];
    const same = others.some(other => other.start === found.start && other.end === found.end && other.after === after);
    const other = others.find(other => found.start < other.end && other.start < found.end);
    if (!same && other)
      throw new NotFound('ambiguous', `another edit writes ${other.after} there`);
    if (!same)
      files.set(real, [...others, found]);
    return { file: real || file, line, column, before, after };
  });
  const texts = new Map<string, Changed>();
  for (const [file, places] of files)
    texts.set(file, { text: places[0].source.text, changes: places.filter(place => place.before !== place.after).sort((a, b) => a.start - b.start) });
  return carryOut(playwright, root, edits, texts);
}

/** What becomes of each order. */
export function each<Of>(orders: Of[], make: (order: Of) => Done): Done[] {
  return orders.map(order => {
    try {
      return make(order);
    } catch (error) {
      return { code: error instanceof NotFound ? error.code : 'failed', why: (error as Error).message };
    }
  });
}

/** A file's text, and what is to be other in it. */
export interface Changed {
  text: string;
  changes: Change[];
}

/** Writes files anew, by their paths from the root, if every edit can be made and none does what a repair must not; `free` as for lint. */
export function carryOut(playwright: Playwright, root: string, edits: Done[], files: Map<string, Changed>, free = false): Outcome {
  const failed = edits.find(edit => edit.code);
  if (failed)
    return { edits, patch: '', offences: [], problem: `an edit could not be made: ${failed.why}` };
  let patch = '';
  const offences: Outcome['offences'] = [];
  const written = new Map<string, string>();
  for (const [file, { text, changes }] of [...files].sort(([a], [b]) => a < b ? -1 : 1)) {
    patch += unified(file, text, changes);
    const after = changed(text, changes);
    written.set(file, after);
    const line = changes.length ? text.slice(0, changes[0].start).split('\n').length : 1;
    offences.push(...lint(playwright, text, after, free).map(({ rule, message }) => ({ rule, file, line, message })));
  }
  if (offences.length)
    return { edits, patch, offences, problem: `the edits do what a repair must not: ${offences[0].message}` };
  for (const [file, text] of written)
    fs.writeFileSync(path.join(root, file), text);
  return { edits, patch, offences };
}
