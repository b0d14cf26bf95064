// Small text helpers shared by everything that reports.
import * as path from 'path';
import type { Location, WireError } from './protocol';

// CSI and OSC sequences: colours, cursor moves, links.
const ansi = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-Z\\-_]/g;

export function stripAnsi(text: string): string {
  return text.includes('\u001b') ? text.replace(ansi, '') : text;
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
  const text = (value: unknown) => (typeof value === 'string' ? stripAnsi(value) : undefined);
  return {
    message: text(error?.message),
    stack: text(error?.stack),
    snippet: text(error?.snippet),
    location: wireLocation(error?.location),
    value: text(error?.value),
  };
}
