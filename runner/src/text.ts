// Small text helpers shared by everything that reports.
import * as fs from 'fs';
import * as path from 'path';
import type { Location, WireError } from './protocol';

// CSI and OSC sequences: colours, cursor moves, links.
const ansi = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-Z\\-_]/g;

export function stripAnsi(text: string): string {
  return text.includes('\u001b') ? text.replace(ansi, '') : text;
}

// A diff of two pages can be megabytes; nobody reads the rest of it, and a reader of lines has to hold it.
const longestErrorText = 64 * 1024;

function shorten(text: string, longest: number): string {
  return text.length > longest ? text.slice(0, longest) + '\n… (cut)' : text;
}

export function stepTitle(title: string): string {
  return shorten(stripAnsi(title), 2000);
}

/** Relative to the working directory with `/` where the file lies below it, else as it is. */
export function relativeFile(file: string): string {
  const relative = path.relative(process.cwd(), file);
  if (!relative || relative.startsWith('..') || path.isAbsolute(relative))
    return file;
  return path.sep === '/' ? relative : relative.split(path.sep).join('/');
}

export function wireLocation(location: Location | undefined): Location | undefined {
  return location && { file: relativeFile(location.file), line: location.line, column: location.column };
}

export function wireError(error: any): WireError {
  const text = (value: unknown) => (typeof value === 'string' ? shorten(stripAnsi(value), longestErrorText) : undefined);
  return {
    message: text(error?.message),
    stack: text(error?.stack),
    snippet: text(error?.snippet),
    location: wireLocation(error?.location),
    value: text(error?.value),
  };
}

/** A few lines of source around a place, as Playwright shows them with its errors. "" when there are none. */
export function snippetAt(location: Location): string {
  let lines: string[];
  try {
    lines = fs.readFileSync(location.file, 'utf8').split(/\r?\n/);
  } catch {
    return '';
  }
  const first = Math.max(1, location.line - 2);
  const last = Math.min(lines.length, location.line + 2);
  const width = String(last).length;
  const shown = [];
  for (let number = first; number <= last; number++) {
    const here = number === location.line;
    shown.push(`${here ? '>' : ' '} ${String(number).padStart(width)} | ${lines[number - 1].slice(0, 500)}`);
    if (here && location.column > 0)
      shown.push(`  ${' '.repeat(width)} | ${' '.repeat(location.column - 1)}^`);
  }
  return shown.join('\n');
}
