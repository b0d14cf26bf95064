"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.unitsOf = unitsOf;
/** The unit of each test by its ID. A unit is called after its first test: the same in all processes. */
function unitsOf(root, setup, shards, innards) {
    const units = new Map();
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
