// The messages between an attempt and the runner, as PROTOCOL.md tells them. Types only: nothing here runs.

import type { Order } from './edit';
import type { Rewrite } from './rewrites';

export const PROTOCOL = 1;

export interface Start {
  type: 'start';
  protocol: number;
  config?: string;
  outDir: string;
  workers?: number;
  browsersDir: string;
  managedBrowsers?: string;
  systemBrowsers?: { chromium?: string; headlessShell?: string; ffmpeg?: string };
  grepTimeoutMs?: number;
  hangFactor?: number;
  hangGraceMs?: number;
  listOnly?: boolean;
  /** How many processes share the run; absent: this one runs all that is selected. */
  shards?: number;
  /** Tries something out: without retries, so often, and what else it says. */
  trial?: Trial;
  /** No run: make one HTML report out of these. */
  merge?: { blobs: string[]; results?: string; memoryMb?: number };
  /** Locators that find nothing may be asked for, see src/recover.ts. */
  recover?: boolean;
  /** From one runner to another that it started: list what a run would see, so without what `test.only` hides. */
  focus?: boolean;
  /** From one runner to another that it started: no listing, run exactly these. */
  only?: { ids: string[]; all?: boolean; projects?: string[]; loadErrors?: number; record?: boolean };
}

export interface Trial {
  /** Made before anything of the tests is loaded. */
  edits?: Order[];
  /** Pieces of text in place of others, instead of edits; see src/rewrites.ts. */
  rewrites?: Rewrite[];
  repeat?: number;
  trace?: boolean;
  /** Done to the repetitions by their number. */
  sabotage?: Sabotage[];
}

/** See src/sabotage.ts. */
export interface Sabotage {
  /** Absent or '': the repetition is left alone. */
  kind?: 'remove' | 'handler' | 'request' | 'text' | 'rival' | '';
  method?: string;
  selector?: string;
  turn?: number;
  rival?: string;
  calls?: { method: string; path: string }[];
  limitMs?: number;
}

export interface Select {
  type: 'select';
  ids: Record<string, string>;
  all?: boolean;
  include?: string[];
  grep?: string;
  /** Record a trace of every test, see src/recording.ts. */
  record?: boolean;
}

export interface Abort {
  type: 'abort';
  reason?: string;
}

export interface Grant {
  type: 'grant';
  units: string[][];
}

export interface Close {
  type: 'close';
}

/** To a `recover`: what is meant now; without `locator` nobody knows. */
export interface Found {
  type: 'answer';
  id: string;
  locator?: string;
  before?: string;
  why?: string;
}

export type FromAttempt = Start | Select | Abort | Grant | Close | Found;

/** A step that was taken with another locator than the one that is written. */
export interface Recovered {
  method: string;
  before: string;
  after: string;
  file: string;
  line: number;
  why: string;
}

export type FailCode = 'no-playwright' | 'playwright-too-old' | 'bad-config' | 'grep-invalid' | 'grep-timeout' | 'not-live' | 'merge' | 'edit' | 'internal';

export interface Location {
  file: string;
  line: number;
  column: number;
}

export interface WireError {
  message?: string;
  stack?: string;
  snippet?: string;
  location?: Location;
  value?: string;
}

export interface WireTest {
  id: string;
  title: string;
  titlePath: string[];
  file: string;
  line: number;
  column: number;
  location?: Location;
  project: string;
  tags: string[];
  annotations: { type: string; description?: string }[];
  expectedStatus: string;
  timeoutMs: number;
  retries: number;
  repeatEachIndex: number;
  mode: string;
  serialGroup?: string;
  setup: boolean;
  bodyHash: string;
  unit?: string;
  /** From one runner to another that it started: what Playwright's own --grep matches. */
  grepTitle?: string;
}

export interface WireProject {
  name: string;
  dependencies: string[];
  teardown: string | null;
  browserName: string;
  channel?: string;
  browserAvailable: boolean;
  testDir: string;
  setup: boolean;
}

/** Any message: `type` and whatever PROTOCOL.md lists for it. */
export interface Message {
  type: string;
  [field: string]: unknown;
}
