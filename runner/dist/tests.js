"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.setupProjectNames = setupProjectNames;
exports.projectName = projectName;
exports.wireProjects = wireProjects;
exports.wireTests = wireTests;
exports.wireAnnotations = wireAnnotations;
exports.grepTitle = grepTitle;
exports.focusedTests = focusedTests;
exports.hasFocus = hasFocus;
// Turns Playwright's tree of suites into the `suite` and `tests` messages.
const bodyhash_1 = require("./bodyhash");
const text_1 = require("./text");
function setupProjectNames(config) {
    const names = new Set();
    for (const project of config.projects) {
        for (const dependency of project.dependencies ?? [])
            names.add(dependency);
        if (project.teardown)
            names.add(project.teardown);
    }
    return names;
}
function projectName(test) {
    return ancestor(test, 'project')?.title ?? '';
}
function ancestor(test, type) {
    let suite = test.parent;
    while (suite && suite.type !== type)
        suite = suite.parent;
    return suite;
}
function wireProjects(config, browsers) {
    const setup = setupProjectNames(config);
    return config.projects.map((project) => {
        const use = project.use ?? {};
        const browserName = use.browserName ?? use.defaultBrowserType ?? 'chromium';
        const channel = use.channel ?? use.launchOptions?.channel;
        return {
            name: project.name,
            dependencies: project.dependencies ?? [],
            teardown: project.teardown ?? null,
            browserName,
            channel,
            browserAvailable: browsers.available(browserName, channel, use.launchOptions?.executablePath),
            testDir: (0, text_1.relativeFile)(project.testDir),
            setup: setup.has(project.name),
        };
    });
}
function wireTests(tests, setup) {
    const hashes = new bodyhash_1.BodyHashes();
    return tests.map(test => {
        const file = ancestor(test, 'file')?.location?.file ?? test.location.file;
        const elsewhere = test.location.file !== file;
        // A call in a helper has no line of its own in the test file: the nearest describe is where a reader begins.
        const place = elsewhere ? placeInFile(test, file) : test.location;
        const project = projectName(test);
        return {
            id: test.id,
            title: test.title,
            titlePath: titlesOf(test),
            file: (0, text_1.relativeFile)(file),
            line: place.line,
            column: place.column,
            location: elsewhere ? (0, text_1.wireLocation)(test.location) : undefined,
            project,
            tags: test.tags ?? [],
            annotations: wireAnnotations(test.annotations),
            expectedStatus: test.expectedStatus,
            timeoutMs: test.timeout,
            retries: test.retries,
            repeatEachIndex: test.repeatEachIndex,
            ...modeOf(test, file),
            setup: setup.has(project),
            bodyHash: hashes.at(test.location),
        };
    });
}
function wireAnnotations(annotations) {
    return (annotations ?? []).map(({ type, description }) => ({ type, description: description === undefined ? undefined : (0, text_1.stripAnsi)(String(description)) }));
}
/** The titles of the describes and the test: Playwright's path without root, project and file. */
function titlesOf(test) {
    const titles = [test.title];
    for (let suite = test.parent; suite && suite.type === 'describe'; suite = suite.parent) {
        if (suite.title)
            titles.unshift(suite.title);
    }
    return titles;
}
function placeInFile(test, file) {
    for (let suite = test.parent; suite; suite = suite.parent) {
        if (suite.location?.file === file && suite.location.line > 0)
            return suite.location;
    }
    return { line: 1, column: 1 };
}
function modeOf(test, file) {
    let mode;
    let serial;
    for (let suite = test.parent; suite; suite = suite.parent) {
        const own = suite._parallelMode;
        if (own && own !== 'none')
            mode ??= own;
        if (own === 'serial')
            serial = suite;
    }
    if (!serial)
        return { mode: mode ?? 'default' };
    const titles = [];
    for (let suite = serial; suite && suite.type === 'describe'; suite = suite.parent)
        titles.unshift(suite.title);
    // Two describes without a title differ by their place.
    const place = serial.type === 'describe' ? `${serial.location?.line}:${serial.location?.column}` : '';
    return { mode: mode, serialGroup: JSON.stringify([projectName(test), (0, text_1.relativeFile)(file), ...titles, place, test.repeatEachIndex]) };
}
/** The text that Playwright's own --grep matches. */
function grepTitle(test, wire) {
    return test._grepTitleWithTags?.() ?? test._grepTitle?.() ?? [wire.project, ...test.titlePath().slice(2), ...wire.tags].join(' ');
}
/** What `test.only` leaves of a suite, as Playwright's own filter does; all of it where nothing is focused. */
function focusedTests(root) {
    const visit = (suite) => {
        const kept = [];
        let found = false;
        for (const child of suite.suites) {
            const inner = visit(child);
            if (inner || child._only) {
                found = true;
                kept.push(...(inner ?? child.allTests()));
            }
        }
        const tests = suite.tests.filter(test => test._only);
        if (tests.length) {
            found = true;
            kept.push(...tests);
        }
        return found ? kept : undefined;
    };
    return visit(root) ?? root.allTests();
}
function hasFocus(root) {
    return !!root._only || root.suites.some(hasFocus) || root.tests.some(test => test._only);
}
