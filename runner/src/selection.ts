// Decides which of the listed tests a `select` message means.
import { GrepProblem, matchAll } from './grep';
import type { FailCode, Select, WireTest } from './protocol';

export interface Listed {
  wire: WireTest;
  /** The text that Playwright's own --grep matches: project, file, describes, title and tags joined by blanks. */
  grepTitle: string;
}

/** The Playwright IDs that were chosen. Throws GrepProblem for a pattern, Error for IDs that are not listed. */
export function choose(select: Select, listed: Listed[], grepTimeoutMs: number): Set<string> {
  const ways = [select.all === true, Array.isArray(select.include), typeof select.grep === 'string'].filter(Boolean).length;
  if (ways !== 1)
    throw new Error('select needs exactly one of all, include and grep');
  if (select.all)
    return new Set(listed.map(({ wire }) => wire.id));
  if (select.include) {
    const known = new Set(listed.map(({ wire }) => wire.id));
    const unknown = select.include.filter(id => !known.has(id));
    if (unknown.length)
      throw new Error(`${unknown.length} selected tests are not in this checkout: ${someOf(unknown)}`);
    return new Set(select.include);
  }
  const texts = listed.map(({ wire, grepTitle }) => grepTexts(wire, grepTitle, select.ids?.[wire.id]));
  const matches = matchAll(select.grep!, texts, grepTimeoutMs);
  return new Set(listed.filter((_, index) => matches[index]).map(({ wire }) => wire.id));
}

function grepTexts(wire: WireTest, grepTitle: string, serviceTestId: string | undefined): string[] {
  const tags = wire.tags.length ? ' ' + wire.tags.join(' ') : '';
  const texts = [[wire.file, ...wire.titlePath].join(' › ') + tags, grepTitle];
  if (serviceTestId)
    texts.push(serviceTestId);
  return texts;
}

/**
 * Set-up tests that were chosen though nothing else was chosen that depends on their project: Playwright lets a
 * reporter take nothing out of a set-up project, nor keep one without its dependents.
 */
export function orphanSetup(chosen: Set<string>, listed: Listed[], comesAlong: (project: string) => boolean): Listed[] {
  return listed.filter(({ wire }) => wire.setup && chosen.has(wire.id) && !comesAlong(wire.project));
}

/** Which set-up and tear-down projects run because of these projects. */
export function projectsAlong(projects: { name: string; dependencies: string[]; teardown: string | null }[], chosen: Set<string>): Set<string> {
  const byName = new Map(projects.map(project => [project.name, project]));
  const along = new Set<string>();
  const visit = (name: string) => {
    const project = byName.get(name);
    for (const next of [...project?.dependencies ?? [], ...(project?.teardown ? [project.teardown] : [])]) {
      if (!along.has(next)) {
        along.add(next);
        visit(next);
      }
    }
  };
  chosen.forEach(visit);
  return along;
}

/** Why these tests cannot run: without a set-up that does not load they would fail for reasons that are not theirs. */
export function brokenSetup(along: Set<string>, broken: string[]): string | undefined {
  const lost = broken.filter(project => along.has(project));
  return lost.length ? `nothing was run: the selected tests depend on ${someOf(lost)}, and a file of it does not load` : undefined;
}

export function problemCode(error: unknown): FailCode {
  return error instanceof GrepProblem ? error.code : 'internal';
}

export function someOf(names: string[]): string {
  return names.slice(0, 20).join(', ') + (names.length > 20 ? ` and ${names.length - 20} more` : '');
}
