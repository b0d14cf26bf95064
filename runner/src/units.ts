// Which tests one process must run in one go when several share a run. Playwright decides: its own function makes the
// groups, for twice as many pieces as there are processes where it cuts up what stands under beforeAll or afterAll.
import type { Innards } from './innards';
import type { Suite } from './tests';

/** The unit of each test by its ID. A unit is called after its first test: the same in all processes. */
export function unitsOf(root: Suite, setup: Set<string>, shards: number, innards: Innards): Map<string, string> {
  const units = new Map<string, string>();
  for (const project of root.suites) {
    if (setup.has(project.title))
      continue;
    for (const group of innards.createTestGroups(project, 2 * shards)) {
      for (const test of group.tests)
        units.set(test.id, group.tests[0].id);
    }
  }
  return units;
}
