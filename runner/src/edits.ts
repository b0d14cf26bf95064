// Makes a trial's edits before anything of the tests is loaded, and says what became of each. Either all are made, or
// none is.
import * as fs from 'fs';
import * as path from 'path';
import { changed, unified } from './diff';
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
  const edits = orders.map((order): Done => {
    try {
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
    } catch (error) {
      return { code: error instanceof NotFound ? error.code : 'failed', why: (error as Error).message };
    }
  });
  const failed = edits.find(edit => edit.code);
  if (failed)
    return { edits, patch: '', offences: [], problem: `an edit could not be made: ${failed.why}` };
  let patch = '';
  const offences: Outcome['offences'] = [];
  const written = new Map<string, string>();
  for (const [file, places] of [...files].sort(([a], [b]) => a < b ? -1 : 1)) {
    const changes = places.filter(place => place.before !== place.after).sort((a, b) => a.start - b.start);
    const { text } = places[0].source;
    patch += unified(file, text, changes);
    const after = changed(text, changes);
    written.set(file, after);
    offences.push(...lint(playwright, text, after).map(({ rule, message }) => ({ rule, file, line: changes[0]?.line ?? 1, message })));
  }
  if (offences.length)
    return { edits, patch, offences, problem: `the edits do what a repair must not: ${offences[0].message}` };
  for (const [file, text] of written)
    fs.writeFileSync(path.join(root, file), text);
  return { edits, patch, offences };
}
