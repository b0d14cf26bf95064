// A process that shares a run with others has the whole suite in its blob. Before it says bye, the tests that did not
// run here are taken out, so that a merged report counts each test once.
import * as fs from 'fs';
import { replaceEntry, type Entry, type Zip } from './zip';

export const eventsName = 'report.jsonl';

export async function dropStrangers(blob: string): Promise<void> {
  if (!fs.existsSync(blob))
    return;
  await replaceEntry(blob, eventsName, withoutStrangers);
}

async function* withoutStrangers(zip: Zip, entry: Entry): AsyncGenerator<string> {
  const ran = new Set<string>();
  for await (const line of zip.lines(entry)) {
    if (methodOf(line) === 'onTestBegin')
      ran.add(JSON.parse(line).params.testId);
  }
  for await (const line of zip.lines(entry)) {
    if (methodOf(line) === 'onProject')
      yield withoutTests(line, id => ran.has(id));
    else
      yield line;
  }
}

/** Playwright writes the method first; any other order is read properly. */
export function methodOf(line: string): string {
  const match = /^\{"method":"(\w+)"/.exec(line);
  return match ? match[1] : String(JSON.parse(line).method);
}

/** An onProject event with these tests alone, and without suites that have none left. */
export function withoutTests(line: string, keep: (id: string) => boolean): string {
  const event = JSON.parse(line);
  event.params.project.suites = filterSuites(event.params.project.suites, keep);
  return JSON.stringify(event);
}

function filterSuites(entries: any[], keep: (id: string) => boolean): any[] {
  return entries.flatMap(entry => {
    if ('testId' in entry)
      return keep(entry.testId) ? [entry] : [];
    const inner = filterSuites(entry.entries, keep);
    return inner.length ? [{ ...entry, entries: inner }] : [];
  });
}
