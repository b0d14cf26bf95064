// Makes a trial's rewrites before anything of the tests is loaded: exact pieces of text that a model wants to have
// replaced. What it wants is a stranger's wish, so it is held to the rules of repairs as every edit is, and to files of
// the tests themselves. Either all are made, or none is.
import * as fs from 'fs';
import * as path from 'path';
import { differences } from './diff';
import { carryOut, each, type Changed, type Outcome } from './edits';
import type { Playwright } from './playwright';
import { NotFound } from './source';

/** A piece of text that stands in a file once, and what is to stand there. */
export interface Rewrite {
  /** Relative to the package, with slashes. */
  file: string;
  before: string;
  after: string;
}

/** Source of tests: no dot begins any part of its path. */
const source = /^(?:[^./\\][^/\\]*\/)*[^./\\][^/\\]*\.[cm]?[jt]sx?$/;
/** What says how tests run, and not what they do. */
const configuration = /(?:^|[.-])config\.[cm]?[jt]sx?$/i;

/** Each rewrite is made on what the ones before it left behind. */
export function makeRewrites(playwright: Playwright, root: string, orders: Rewrite[]): Outcome {
  const files = new Map<string, { was: string; now: string }>();
  const edits = each(orders, ({ file, before, after }) => {
    const texts = files.get(file) ?? open(root, file);
    const at = texts.now.indexOf(before);
    if (!before || at < 0)
      throw new NotFound('no-segment', `${file} does not have the text that is to be replaced`);
    if (texts.now.indexOf(before, at + 1) >= 0)
      throw new NotFound('ambiguous', `${file} has the text that is to be replaced more than once`);
    files.set(file, { was: texts.was, now: texts.now.slice(0, at) + after + texts.now.slice(at + before.length) });
    return { file, line: texts.now.slice(0, at).split('\n').length, column: at - texts.now.lastIndexOf('\n', at - 1), before, after };
  });
  const texts = new Map<string, Changed>();
  for (const [file, { was, now }] of files)
    texts.set(file, { text: was, changes: differences(was, now) });
  return carryOut(playwright, root, edits, texts, true);
}

function open(root: string, file: string): { was: string; now: string } {
  if (typeof file !== 'string' || !source.test(file) || file.split('/').includes('node_modules') || configuration.test(file))
    throw new NotFound('no-source', `${file} is no source of tests`);
  const top = fs.realpathSync(root), at = path.join(top, file);
  let real: string | undefined;
  try {
    real = fs.realpathSync(at);
  } catch {
    // It is not there.
  }
  // A link is not what is written to.
  if (real !== at || !fs.lstatSync(at).isFile())
    throw new NotFound('no-source', `${file} is not there`);
  const bytes = fs.readFileSync(at), text = bytes.toString('utf8');
  if (!bytes.equals(Buffer.from(text)))
    throw new NotFound('no-source', `${file} is not UTF-8`);
  return { was: text, now: text };
}
