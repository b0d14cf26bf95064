// What main and the reporter share. Playwright constructs the reporter itself, in the same process, so they meet here.
import type { Browsers } from './browsers';
import type { Channel } from './channel';
import type { Innards } from './innards';
import type { Live } from './live';
import type { LoadError } from './loading';
import type { Playwright } from './playwright';
import type { FailCode, Select, Start } from './protocol';
import type { Recording } from './recording';
import type { Listed } from './selection';
import type { Workers } from './workers';

/**
 * ask:  one process lists, asks for a selection and runs it (Playwright 1.62 and later)
 * list: only lists
 * only: runs a selection that is known already
 */
export type Mode = 'ask' | 'list' | 'only';

export interface Session {
  channel: Channel;
  start: Start;
  mode: Mode;
  browsers: Browsers;
  playwright?: Playwright;
  workers: Workers;
  /** Both where several processes share the run. */
  innards?: Innards;
  live?: Live;
  /** While traces are recorded as evidence. */
  recording?: Recording;
  loadErrors: LoadError[];
  /** What another process has listed, where this one runs a selection that is known already. */
  listedBefore: Listed[];
  /** Settles with the selection, or with undefined when the run was aborted before there was one. */
  selection: Promise<Select | undefined>;
  /** Ends the process after telling why. */
  fail(code: FailCode, message: string): void;
  /** Runs these set-up tests, that nothing selected depends on, in another process; never comes back. */
  runAlone(ids: string[], projects: string[], record?: boolean): Promise<never>;
  /** Playwright 1.62 and later hand an error that one reporter throws to all of them; before, it is only printed. */
  reportersSeeEachOthersErrors: boolean;
  /** Stops the process that merges reports. */
  stopChild?(): void;
  /** The reporter exists: from now on what goes wrong is reported by it. */
  reporting: boolean;
  listed: boolean;
  ended: boolean;
  aborted: boolean;
}

let current: Session | undefined;

export function setSession(session: Session): void {
  current = session;
}

export function getSession(): Session {
  if (!current)
    throw new Error('this reporter works only inside a process that TAS started');
  return current;
}
